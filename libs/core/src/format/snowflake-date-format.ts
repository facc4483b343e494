import type { BitLayout } from '../snowflake/bit-layout';
import { DAY_MS, formatDay, parseDay } from './calendar-day';
import { type IdFormat, invalidId } from './id-format';
import { RadixFormat } from './radix-format';

/**
 * Writes snowflake IDs as their UTC day and the offset from the first ID of that day, in base 36:
 * `20261121-2f0c9k1xq8`. Texts sort like their IDs.
 */
export class SnowflakeDateFormat implements IdFormat {
  private readonly rest: RadixFormat;

  constructor(private readonly layout: BitLayout) {
    const idsOfDay = BigInt(DAY_MS) * BigInt(layout.maxWorkerId + 1) * BigInt(layout.maxSequence + 1);
    this.rest = new RadixFormat({ base: 36, width: (idsOfDay - 1n).toString(36).length });
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
