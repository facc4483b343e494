import type { HttpReply } from '@leaf-ids/core/internal';

/** The header `Date` counts whole seconds: on average, half a second has passed. */
const HALF_SECOND_MS = 500;

/**
 * The clock of an HTTP server, in Unix milliseconds, to within half a second.
 *
 * @throws Error if the response has no date
 */
export function serverClock({ headers }: HttpReply): number {
  const ms = Date.parse(headers.date ?? '');
  if (Number.isNaN(ms)) throw new Error('the response has no date');
  return ms + HALF_SECOND_MS;
}
