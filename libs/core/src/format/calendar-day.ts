import { invalidId } from './id-format';

export const DAY_MS = 86_400_000;
/** The year 10000 would have five digits. */
const END = Date.UTC(10_000, 0, 1);

/**
 * Formats the UTC day of a timestamp as `20261121`.
 *
 * @param at Unix milliseconds
 * @throws LeafError `LEAF_ID_INVALID`
 */
export function formatDay(at: number): string {
  if (!(at >= 0 && at < END)) throw invalidId('its day must be in the years 1970 to 9999');
  return new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
}

/**
 * The first Unix millisecond of a day.
 *
 * @throws LeafError `LEAF_ID_INVALID`
 */
export function parseDay(text: string): number {
  const parts = /^(\d{4})(\d{2})(\d{2})$/.exec(text);
  const start = parts === null ? NaN : Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]));
  if (!(start >= 0) || formatDay(start) !== text) throw invalidId('expected a day such as 20261121 at the start');
  return start;
}
