import { PLAIN_TAG } from '@leaf-ids/core';
import { DEFAULT_HOT_TAGS, HotTags, SegmentIdGenerator } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { IssueRates } from '../../../apps/leaf-server/src/monitor/sampling/issue-rates';
import { heapInUse } from '../../support/heap';
import { InMemorySegmentStore } from '../../support/fakes/in-memory-segment-store';

const TAGS = 100_000;
const USED = 20_000;
const STEP = 1000;
/** Number of tags that may be processed before requests get a turn. */
const PAGE = 1000;
const BYTES_A_TAG = 1000;
const OPTIONS = { durationMs: 900_000, maxStep: 1_000_000, prefetchRatio: 0.1, waitMs: 1000 };

/** A clock that counts pauses and ends them at once. */
class PausedClock extends FakeClock {
  pauses = 0;

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms > 0) return super.sleep(ms, signal);
    this.pauses++;
    return Promise.resolve();
  }
}

const tagOf = (index: number): string => `service-${String(index).padStart(6, '0')}-order`;

describe('with a hundred thousand tags', () => {
  let clock: PausedClock;
  let store: InMemorySegmentStore;
  let generator: SegmentIdGenerator;

  beforeEach(() => {
    clock = new PausedClock();
    store = new InMemorySegmentStore();
    for (let index = 0; index < TAGS; index++) store.put(tagOf(index), 1n, STEP);
    generator = new SegmentIdGenerator(store, clock, () => 0, OPTIONS, {
      onLoadFailed: (tag, error) => {
        throw new Error(tag, { cause: error });
      },
      onRefreshFailed: (error) => {
        throw error;
      },
    });
  });

  afterEach(() => generator.close());

  /** Number of pauses during `act`. */
  async function pausesOf(act: () => Promise<unknown>): Promise<number> {
    const before = clock.pauses;
    await act();
    return clock.pauses - before;
  }

  it('a refresh stops for requests after every thousand, with tags that are new, known and gone', async () => {
    expect(await pausesOf(() => generator.refresh.run())).toBeGreaterThanOrEqual(TAGS / PAGE - 1);
    expect(generator.tagCount).toBe(TAGS);
    expect(await pausesOf(() => generator.refresh.run())).toBeGreaterThanOrEqual(2 * (TAGS / PAGE - 1));
    store.rows.clear();
    expect(await pausesOf(() => generator.refresh.run())).toBeGreaterThanOrEqual(TAGS / PAGE - 1);
    expect(generator.tagCount).toBe(0);
  });

  it('a look at what each has issued stops as often, and misses none', async () => {
    await generator.refresh.run();
    await generator.next(tagOf(5));
    let issuedIn = new Map<string, number>();
    let longest = 0;
    const look = (): Promise<void> => {
      let pauses = clock.pauses;
      let run = 0;
      issuedIn = new Map();
      return generator.survey((tag, issued) => {
        run = clock.pauses === pauses ? run + 1 : 1;
        pauses = clock.pauses;
        longest = Math.max(longest, run);
        issuedIn.set(tag, issued);
      });
    };
    expect(await pausesOf(look)).toBe(TAGS / PAGE - 1);
    expect(longest).toBe(PAGE);
    expect(issuedIn.size).toBe(TAGS);
    expect([...issuedIn].filter(([, issued]) => issued > 0)).toEqual([[tagOf(5), 1]]);
    expect(generator.issued).toBe(1);
  });

  it('each takes less than a kilobyte, used or not, with all that is counted of it', async () => {
    // New strings, as rows of a database have: those of the store exist already.
    store.listTags = () =>
      Promise.resolve(Array.from({ length: TAGS }, (_, index) => ({ tag: tagOf(index), kind: PLAIN_TAG })));
    const before = heapInUse();
    await generator.refresh.run();
    const known = heapInUse();
    expect((known - before) / TAGS).toBeLessThan(BYTES_A_TAG);

    const rates = new IssueRates(clock);
    const hot = new HotTags(clock, DEFAULT_HOT_TAGS);
    for (let index = 0; index < USED; index++) await generator.next(tagOf(index));
    for (let sample = 0; sample < 20; sample++) await rates.sample((see) => generator.survey(see));
    await hot.observe((see) => generator.survey(see));
    // The records of the store for tests are not part of the product.
    for (const list of [store.calls, store.granted]) list.length = 0;
    const used = heapInUse();
    expect((known - before) / TAGS + (used - known) / USED).toBeLessThan(BYTES_A_TAG);
    expect([generator.tagCount, rates.rateOf(tagOf(0)), hot.list().length]).toEqual([TAGS, 0, DEFAULT_HOT_TAGS.most]);
  });
});
