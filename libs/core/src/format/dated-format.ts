import { formatDay, parseDay } from './calendar-day';
import { type IdFormat, invalidId } from './id-format';

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
