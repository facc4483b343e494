import { invalidPeriod } from '@leaf-ids/core';

/** RFC 3339. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/**
 * The `at` parameter; undefined when it is not given.
 *
 * @throws LeafError `LEAF_PERIOD_INVALID`
 */
export function parseMoment(given: unknown): Date | undefined {
  if (given === undefined) return undefined;
  const text = typeof given === 'string' ? given : '';
  const day = MOMENT.exec(text)?.[1];
  // A leap second belongs to the day that it ends.
  const moment = new Date(day === undefined ? NaN : text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'));
  // A day that the month does not have would count as one of the next month.
  if (Number.isNaN(moment.getTime()) || !new Date(`${day}T00:00Z`).toISOString().startsWith(String(day))) {
    throw invalidPeriod('at must be one moment with Z or an offset, such as 2026-11-22T10:00:00Z; write + as %2B');
  }
  return moment;
}
