import { MonitorStore } from './monitor-store';
import type { MonitorTag, OverviewView, SegmentsView, SnowflakeView } from './views';

const NOW = 1_800_000_000_000;

function overviewAt(endsAt: number, segment: number[]): OverviewView {
  const zeros = segment.map(() => 0);
  const history = { stepMs: 5000, endsAt, segment, snowflake: zeros, errors: zeros };
  return { now: endsAt, ready: true, history } as unknown as OverviewView;
}

function roundOf(now: number, ...tags: (readonly [string, number])[]): SegmentsView {
  const views = tags.map(([tag, issued]) => ({ tag, issued }) as unknown as MonitorTag);
  return { enabled: true, now, prefetchRatio: 0.1, tags: views };
}

describe('history', () => {
  it('appends new steps, and fills missed steps with 0', () => {
    const store = new MonitorStore();
    store.connected();
    store.takeOverview(overviewAt(NOW, [1, 2, 3]));
    store.takeOverview(overviewAt(NOW, []));
    store.takeOverview(overviewAt(NOW + 5000, [4]));
    store.takeOverview(overviewAt(NOW + 15_000, [6]));
    expect(store.overview?.history).toMatchObject({ endsAt: NOW + 15_000, segment: [1, 2, 3, 4, 0, 6] });
    store.takeOverview(overviewAt(NOW + 15_000, [5, 7]));
    expect(store.overview?.history.segment).toEqual([1, 2, 3, 4, 5, 7]);
  });

  it('keeps 15 minutes', () => {
    const store = new MonitorStore();
    store.connected();
    store.takeOverview(overviewAt(NOW, Array<number>(180).fill(1)));
    store.takeOverview(overviewAt(NOW + 5000, [2]));
    expect(store.overview?.history.segment).toEqual([...Array<number>(179).fill(1), 2]);
  });

  it('is replaced with each connection', () => {
    const store = new MonitorStore();
    store.takeOverview(overviewAt(NOW, [1, 2, 3]));
    store.connected();
    store.takeOverview(overviewAt(NOW + 60_000, [9]));
    expect(store.overview?.history.segment).toEqual([9]);
  });
});

describe('tags', () => {
  it('are updated, removed, and complete again with each connection', () => {
    const store = new MonitorStore();
    store.connected();
    store.takeSegments(roundOf(NOW, ['a', 0], ['b', 0], ['c', 0]));
    store.takeSegments(roundOf(NOW + 1000, ['b', 7]));
    store.takeRemoved({ tags: ['c'] });
    expect([...store.tags].map(([tag, { view }]) => [tag, view.issued])).toEqual([
      ['a', 0],
      ['b', 7],
    ]);
    store.connected();
    store.takeSegments(roundOf(NOW + 2000, ['b', 8]));
    store.takeSegments(roundOf(NOW + 2000, ['d', 0]));
    expect([...store.tags.keys()]).toEqual(['a', 'b', 'd']);
    store.takeSnowflake({ now: NOW + 2000 } as SnowflakeView);
    expect([...store.tags.keys()]).toEqual(['b', 'd']);
    store.takeSnowflake({ now: NOW + 3000 } as SnowflakeView);
    expect([...store.tags.keys()]).toEqual(['b', 'd']);
  });

  it('keep the rate of each second', () => {
    const store = new MonitorStore();
    store.takeSegments(roundOf(NOW, ['a', 100]));
    store.takeSegments(roundOf(NOW + 1000, ['a', 110]));
    store.takeSegments(roundOf(NOW + 4000, ['a', 115]));
    store.takeSegments(roundOf(NOW + 5000, ['a', 3]));
    const rates = store.tags.get('a')!.rates;
    expect(rates.values(NOW)).toStrictEqual([]);
    expect(rates.values(NOW + 6000)).toEqual([0, 10, 0, 0, 5, 0]);
    expect(rates.values(NOW + 8000)).toEqual([0, 10, 0, 0, 5, 0, 0, 0]);
    store.takeSegments(roundOf(NOW + 61_000, ['a', 9]));
    expect(rates.values(NOW + 62_000)).toEqual([0, 0, 5, ...Array<number>(56).fill(0), 6].slice(-60));
    expect(rates.values(NOW + 3_600_000)).toEqual(Array(60).fill(0));
  });
});

describe('a lost connection', () => {
  it('stops the clock until the next event', async () => {
    const store = new MonitorStore();
    store.takeOverview(overviewAt(NOW, []));
    store.lost();
    const since = store.staleSince;
    expect(since).toBeGreaterThan(0);
    expect(store.now()).toBe(NOW);
    const heard = new Promise<void>((resolve) => store.subscribe(resolve));
    store.takeOverview(overviewAt(NOW + 9000, []));
    await heard;
    expect(store.staleSince).toBeUndefined();
    expect(store.now()).toBeGreaterThanOrEqual(NOW + 9000);
  });
});
