import {
  type IdRange,
  IdService,
  LeafError,
  type PeriodNumber,
  type PeriodRanges,
  type SnowflakeParts,
} from '@leaf-ids/core';
import { onlyNumber } from '@leaf-ids/core/internal';

/** Issues IDs from counters in ranges of 1000, and records the requests. */
export class InMemoryIdService extends IdService {
  readonly calls: { readonly tag: string | undefined; readonly count: number }[] = [];
  private readonly positions = new Map<string, bigint>();

  /** @param snowflakeId first snowflake ID; above Number.MAX_SAFE_INTEGER by default */
  constructor(private snowflakeId = 2n ** 60n + 1n) {
    super();
  }

  nextId(tag: string): Promise<bigint> {
    return this.nextIds(tag, 1).then(([id]) => id!);
  }

  async nextIdString(tag: string): Promise<string> {
    return String(await this.nextId(tag));
  }

  async nextIds(tag: string, count: number): Promise<bigint[]> {
    const ids: bigint[] = [];
    for (const { from, to } of await this.nextRanges(tag, count)) for (let id = from; id <= to; id++) ids.push(id);
    return ids;
  }

  nextRanges(tag: string, count: number): Promise<IdRange[]> {
    this.calls.push({ tag, count });
    if (tag === 'unknown') return Promise.reject(new LeafError('LEAF_TAG_NOT_FOUND', 'There is no tag "unknown".'));
    const ranges: IdRange[] = [];
    let from = this.positions.get(tag) ?? 1n;
    for (let left = BigInt(count); left > 0n; left -= 1000n) {
      const to = from + (left < 1000n ? left : 1000n) - 1n;
      ranges.push({ from, to });
      from = to + 1n;
    }
    this.positions.set(tag, from);
    return Promise.resolve(ranges);
  }

  async nextInPeriod(tag: string): Promise<PeriodNumber> {
    return onlyNumber(await this.nextRangesInPeriod(tag, 1));
  }

  async nextRangesInPeriod(tag: string, count: number): Promise<PeriodRanges> {
    return { period: '2026', ranges: await this.nextRanges(`${tag}@2026`, count) };
  }

  tryNext(): undefined {
    return undefined;
  }

  snowflake(): bigint {
    return this.snowflakeId++;
  }

  snowflakeString(): string {
    return String(this.snowflake());
  }

  trySnowflakeString(): string {
    return this.snowflakeString();
  }

  snowflakes(count: number): Promise<bigint[]> {
    this.calls.push({ tag: undefined, count });
    return Promise.resolve(Array.from({ length: count }, () => this.snowflake()));
  }

  async snowflakeStrings(count: number): Promise<string[]> {
    return (await this.snowflakes(count)).map(String);
  }

  decode(): SnowflakeParts {
    throw new LeafError('LEAF_ID_INVALID', 'These IDs have no parts.');
  }
}
