import { DEFAULT_HOT_TAGS, HotTags, SegmentIdGenerator } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { IssueRates } from '../../../apps/leaf-server/src/monitor/sampling/issue-rates';
import { Traffic } from '../../../apps/leaf-server/src/monitor/sampling/traffic';
import { heapInUse } from '../../support/heap';
import { InMemorySegmentStore } from '../../support/fakes/in-memory-segment-store';

const TAGS = ['heavy', 'busy', 'steady', 'nightly', ...Array.from({ length: 47 }, (_, index) => `rare-${index}`)];
const STEP = 1000;
const MAX_STEP = 200_000;
/** Maximum number of IDs of one call. */
const MOST = 50_000;
const MINUTE = 60_000;
const HOUR = 60;
const DAY = 24 * HOUR;
/** How much the heap may grow in the day: less than one segment per switch, of which there are thousands. */
const MARGIN_BYTES = 800_000;

/** IDs requested per minute. */
function demand(tag: string, minute: number): number {
  const hour = (minute / HOUR) % 24;
  // Several segments of the largest size.
  if (tag === 'heavy') return 8 * MAX_STEP;
  if (tag === 'busy') return hour < 8 ? 1000 : 100;
  if (tag === 'steady') return 60;
  if (tag === 'nightly') return hour < 2 ? 5000 : 0;
  return minute % HOUR === 0 ? 1 : 0;
}

/** A server with its sampling, on a clock that runs as fast as the machine allows. */
class Day {
  readonly clock = new FakeClock();
  readonly store = new InMemorySegmentStore();
  readonly generator: SegmentIdGenerator;
  readonly issued = new Map<string, bigint>();
  loads = 0;
  private minute = 0;
  private readonly rates = new IssueRates(this.clock);
  private readonly traffic = new Traffic(this.clock);
  private readonly hot = new HotTags(this.clock, DEFAULT_HOT_TAGS);

  constructor() {
    for (const tag of TAGS) this.store.put(tag, 1n, STEP);
    const options = { durationMs: 15 * MINUTE, maxStep: MAX_STEP, prefetchRatio: 0.1, waitMs: 1000 };
    this.generator = new SegmentIdGenerator(this.store, this.clock, () => 0, options, {
      onLoadFailed: (tag, error) => {
        throw new Error(tag, { cause: error });
      },
      onRefreshFailed: (error) => {
        throw error;
      },
    });
  }

  async runTo(minute: number): Promise<void> {
    for (; this.minute < minute; this.minute++) {
      await this.generator.refresh.run();
      for (const tag of TAGS) await this.take(tag, demand(tag, this.minute));
      this.traffic.sample({ segment: this.generator.issued, snowflake: 0, errors: 0 });
      await this.rates.sample((see) => this.generator.survey(see));
      if (this.minute % 5 === 0) await this.hot.observe((see) => this.generator.survey(see));
      await this.clock.advance(MINUTE);
      this.loads += this.store.granted.length;
      // Only the records of the store for tests would grow.
      for (const list of [this.store.calls, this.store.granted, this.store.answered]) list.length = 0;
    }
  }

  /** Time stands still during a call, but what is due runs: a call that has waited lets others have a turn. */
  private async done<T>(call: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settle = (): unknown => (state.isSettled = true);
    call.then(settle, settle);
    // Most calls are answered from memory.
    await Promise.resolve();
    while (!state.isSettled) await this.clock.advance(0);
    return call;
  }

  stepOf(tag: string): number {
    return this.generator.snapshotOf(tag)?.step ?? 0;
  }

  /** Takes ranges, and the last ID alone. */
  private async take(tag: string, count: number): Promise<void> {
    for (let left = count; left > 0;) {
      const ranges = left > 1 ? await this.done(this.generator.takeRanges(tag, Math.min(left - 1, MOST))) : undefined;
      const id = ranges === undefined ? await this.done(this.generator.next(tag)) : undefined;
      for (const { from, to } of ranges ?? [{ from: id!, to: id! }]) {
        if (from <= (this.issued.get(tag) ?? 0n) || to < from) throw new Error(`${tag} went back to ${from}`);
        this.issued.set(tag, to);
        left -= Number(to - from) + 1;
      }
    }
  }
}

describe('a day of segments', () => {
  let day: Day;
  beforeAll(() => {
    day = new Day();
  });
  afterAll(() => day.generator.close());

  it('adapts the step to the hour, and ends with as much memory and as many timers as it had at the first', async () => {
    // By now the rates have all their slots.
    await day.runTo(HOUR);
    const timers = day.clock.sleeping;
    const heap = heapInUse();

    await day.runTo(8 * HOUR);
    // A segment lasts a quarter of an hour to half an hour, or grows or shrinks with the next load.
    expect(day.stepOf('busy')).toBeGreaterThanOrEqual(15 * 1000);
    expect(day.stepOf('busy')).toBeLessThanOrEqual(4 * 15 * 1000);
    expect(day.stepOf('nightly')).toBeGreaterThan(15 * 5000);

    await day.runTo(DAY);
    expect(day.stepOf('busy')).toBeGreaterThanOrEqual(15 * 100);
    expect(day.stepOf('busy')).toBeLessThanOrEqual(4 * 15 * 100);
    expect(day.stepOf('steady')).toBeLessThanOrEqual(2 * STEP);
    expect(day.stepOf('rare-0')).toBe(STEP);
    expect(day.stepOf('heavy')).toBe(MAX_STEP);
    expect(day.loads).toBeGreaterThan(8 * DAY);
    expect(day.generator.issued).toBe(TAGS.reduce((sum, tag) => sum + total(tag), 0));

    expect(day.clock.sleeping).toBe(timers);
    expect(heapInUse() - heap).toBeLessThan(MARGIN_BYTES);
  });
});

function total(tag: string): number {
  let sum = 0;
  for (let minute = 0; minute < DAY; minute++) sum += demand(tag, minute);
  return sum;
}
