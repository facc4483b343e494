import { invalidPeriod } from '@leaf-ids/core/internal';

/** RFC 3339. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/**
 * Parses the `at` parameter; undefined if omitted.
 *
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function parseMoment(given: unknown): Date | undefined {
  if (given === undefined) return undefined;
  const text = typeof given === 'string' ? given : '';
  const day = MOMENT.exec(text)?.[1];
  // A leap second counts as the last second of its day; Date cannot parse it.
  const moment = new Date(day === undefined ? NaN : text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'));
  // Date would convert February 30 to March 2.
  if (Number.isNaN(moment.getTime()) || !new Date(`${day}T00:00Z`).toISOString().startsWith(String(day))) {
    throw invalidPeriod(
      '"at" must be one RFC 3339 time with Z or an offset, such as 2026-11-22T10:00:00Z; encode + as %2B',
    );
  }
  return moment;
}
