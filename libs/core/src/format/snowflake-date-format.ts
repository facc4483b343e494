import type { BitLayout } from '../snowflake/bit-layout';
import { DAY_MS, formatDay, parseDay } from './calendar-day';
import { type IdFormat, invalidId } from './id-format';
import { RadixFormat } from './radix-format';

/**
 * Snowflake IDs by the UTC day that they carry: `20261121-2f0c9k1xq8`. What follows is how far the ID lies from the first
 * one of the day. Texts sort as their IDs do.
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
    if (text.charAt(8) !== '-') throw invalidId('a dash follows the day');
    if (start > this.layout.maxTimestamp || start + DAY_MS <= this.layout.epoch) {
      throw invalidId('there are no IDs of its day');
    }
    const id = this.first(start) + this.rest.parse(text.slice(9));
    if (id > this.last(start)) throw invalidId('it lies beyond its day');
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
