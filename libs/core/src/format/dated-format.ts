import { type IdFormat, invalidId } from './id-format';
import type { BitLayout } from '../snowflake/bit-layout';
import { RadixFormat } from './radix-format';

const DAY_MS = 86_400_000;
/** The year 10000 would have five digits. */
const END = Date.UTC(10_000, 0, 1);

/**
 * Formats the UTC day of a timestamp as `20261121`.
 *
 * @param at Unix milliseconds
 * @throws LeafError `LEAF_ID_INVALID`
 */
function formatDay(at: number): string {
  if (!(at >= 0 && at < END)) throw invalidId('its day must be in the years 1970 to 9999');
  return new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
}

/**
 * The first Unix millisecond of a day.
 *
 * @throws LeafError `LEAF_ID_INVALID`
 */
function parseDay(text: string): number {
  const parts = /^(\d{4})(\d{2})(\d{2})$/.exec(text);
  const start = parts === null ? NaN : Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]));
  if (!(start >= 0) || formatDay(start) !== text) throw invalidId('expected a day such as 20261121 at the start');
  return start;
}

export interface DatedId {
  readonly id: bigint;
  /** The first Unix millisecond of the UTC day. */
  readonly day: number;
}

/** Writes IDs without a time, such as segment IDs, after a day that the caller provides: `20261121-000042`. */
export class DatedFormat {
  constructor(private readonly inner: IdFormat) {}

  /**
   * @param at Unix milliseconds; the text contains the UTC day
   * @throws LeafError `LEAF_ID_INVALID`
   */
  format(id: bigint, at: number): string {
    return `${formatDay(at)}-${this.inner.format(id)}`;
  }

  /** @throws LeafError `LEAF_ID_INVALID` */
  parse(text: string): DatedId {
    const day = parseDay(text.slice(0, 8));
    if (text.charAt(8) !== '-') throw invalidId('expected a dash after the day');
    return { id: this.inner.parse(text.slice(9)), day };
  }
}

/**
 * Writes snowflake IDs as their UTC day and the offset from the first ID of that day, in base 36:
 * `20261121-2f0c9k1xq8`. Texts sort like their IDs.
 */
export class SnowflakeDateFormat implements IdFormat {
  private readonly rest: RadixFormat;

  constructor(private readonly layout: BitLayout) {
    const idsOfDay = BigInt(DAY_MS) * BigInt(layout.maxWorkerId + 1) * BigInt(layout.maxSequence + 1);
    // Never a power of 36, because a day has the factor 5: its last ID has as many digits.
    this.rest = new RadixFormat({ base: 36, width: idsOfDay.toString(36).length });
  }

  format(id: bigint): string {
    const { timestamp } = this.layout.decompose(id);
    const day = formatDay(timestamp);
    return `${day}-${this.rest.format(id - this.first(parseDay(day)))}`;
  }

  parse(text: string): bigint {
    const start = parseDay(text.slice(0, 8));
    if (text.charAt(8) !== '-') throw invalidId('expected a dash after the day');
    if (start > this.layout.maxTimestamp || start + DAY_MS <= this.layout.epoch) {
      throw invalidId('the layout has no IDs for its day');
    }
    const id = this.first(start) + this.rest.parse(text.slice(9));
    if (id > this.last(start)) throw invalidId('it exceeds the last ID of its day');
    return id;
  }

  private first(dayStart: number): bigint {
    const timestamp = Math.max(dayStart, this.layout.epoch);
    return this.layout.compose({ timestamp, workerId: 0, sequence: 0 });
  }

  private last(dayStart: number): bigint {
    const { maxTimestamp, maxWorkerId, maxSequence } = this.layout;
    const timestamp = Math.min(dayStart + DAY_MS - 1, maxTimestamp);
    return this.layout.compose({ timestamp, workerId: maxWorkerId, sequence: maxSequence });
  }
}
