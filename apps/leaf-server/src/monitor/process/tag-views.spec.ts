import fc from 'fast-check';
import type { TagSnapshot } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { loadConfig } from '../../config/leaf-config';
import { IssueRates } from '../sampling/issue-rates';
import { ServerIdentity } from './server-identity';
import { sortInSlices, TagViews, toMonitorTag } from './tag-views';
import { TimeSlice } from '../sampling/time-slice';

const SNAPSHOT: TagSnapshot = {
  tag: 'order',
  order: 'relaxed',
  paused: false,
  issued: 0,
  buffered: 0,
  current: undefined,
  next: undefined,
  spare: [],
  loading: false,
  step: 0,
  databaseStep: 0,
  loads: 0,
  failures: 0,
  retries: 0,
  backwards: 0,
  lastLoadMs: undefined,
  lastLoadAt: undefined,
  lastError: undefined,
};

describe('TagViews', () => {
  it('lets requests pass after every slice of many tags', async () => {
    const tags = Array.from({ length: 10_000 }, (_, n) => `tag-${n}`);
    const seen: string[] = [];
    /** How many had been seen at each pause. */
    const pauses: number[] = [];
    class PausedClock extends FakeClock {
      override sleep(ms: number): Promise<void> {
        expect(ms).toBe(0);
        pauses.push(seen.length);
        return Promise.resolve();
      }
    }
    const clock = new PausedClock();
    const views = new TagViews(clock, new ServerIdentity(loadConfig({}), clock), new IssueRates(clock));
    await views.forEach(tags, (tag) => seen.push(tag));
    expect(pauses).toEqual(Array.from({ length: 39 }, (_, n) => 250 * (n + 1)));
    expect(seen).toEqual(tags);
  });
});

describe('toMonitorTag', () => {
  const segment = (from: bigint, to: bigint, position = from): { from: bigint; to: bigint; position: bigint } => ({
    from,
    to,
    position,
  });

  it('shows a segment that was loaded ahead as the current one', () => {
    expect(toMonitorTag({ ...SNAPSHOT, next: segment(1n, 10n) }, 0)).toMatchObject({
      initialized: true,
      nextReady: false,
      position: '1',
      segments: [{ value: '1', max: '11', step: 10 }, null],
    });
  });

  it('goes on with the next segment when the current one is used up', () => {
    const view = toMonitorTag({ ...SNAPSHOT, current: segment(1n, 10n, 11n), next: segment(31n, 40n) }, 0);
    expect(view).toMatchObject({ nextReady: true, position: '31' });
    expect(view.segments[0]).toEqual({ value: '11', max: '11', step: 10 });
    expect(toMonitorTag({ ...SNAPSHOT, current: segment(1n, 10n, 11n) }, 0).position).toBe('11');
  });

  it('is exact above 2^53', () => {
    const to = 2n ** 63n - 1n;
    expect(toMonitorTag({ ...SNAPSHOT, current: segment(to - 9n, to) }, 0)).toMatchObject({
      position: '9223372036854775798',
      segments: [{ value: '9223372036854775798', max: '9223372036854775808', step: 10 }, null],
    });
  });

  it('tells how long the IDs last, of a tag that is in use', () => {
    expect(toMonitorTag({ ...SNAPSHOT, buffered: 900 }, 0)).toMatchObject({ rate: 0, lastsMs: null });
    expect(toMonitorTag({ ...SNAPSHOT, buffered: 900 }, 1 / 60)).toMatchObject({ rate: 0.02, lastsMs: 54_000_000 });
    expect(toMonitorTag({ ...SNAPSHOT, buffered: 900 }, 1800)).toMatchObject({ rate: 1800, lastsMs: 500 });
  });

  it('has the newest load with its failure', () => {
    const failed = { ...SNAPSHOT, lastLoadAt: 17, lastLoadMs: 3.14159, lastError: 'away', failures: 2 };
    expect(toMonitorTag(failed, 0)).toMatchObject({ failures: 2, lastLoad: { at: 17, ms: 3.14, error: 'away' } });
  });
});

it('sortInSlices sorts as an array does', async () => {
  const name = fc.string({ maxLength: 3 });
  const slice = new TimeSlice(new FakeClock());
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 20 }), fc.integer({ min: 0, max: 300 }), async (some, times) => {
      const names = Array.from({ length: times }, (_, n) => some.map((each) => `${each}${(n * 37) % 101}`)).flat();
      expect(await sortInSlices(names, slice)).toEqual([...names].sort());
    }),
    { numRuns: 50 },
  );
});
