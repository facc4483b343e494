import type { MonitorTag } from '../views/views';
import { MergedTags, mergeTags } from './merged-tags';
import type { FeedChanges } from '../process/tag-change-log';

const LOADED: MonitorTag = {
  tag: 'order',
  strict: false,
  initialized: true,
  nextReady: true,
  loading: false,
  paused: false,
  period: null,
  position: '1',
  segments: [{ value: '1', max: '11', step: 10 }, null],
  step: 10,
  databaseStep: 10,
  issued: 3,
  buffered: 8,
  rate: 2,
  lastsMs: 4000,
  loads: 1,
  failures: 0,
  lastLoad: { at: 100, ms: 1, error: null },
};
const FRESH: MonitorTag = { ...LOADED, initialized: false, nextReady: false, position: null, segments: [null, null] };

function changes(part: Partial<FeedChanges>, ...tags: MonitorTag[]): FeedChanges {
  return { feed: 1, round: 1, whole: false, gone: [], ...part, tags: tags.map((tag) => JSON.stringify(tag)) };
}

describe('A tag of several processes', () => {
  it('is the sum of what they have', () => {
    const other = { ...LOADED, issued: 4, buffered: 12, rate: 3, loads: 2, failures: 1, step: 20, position: '11' };
    expect(mergeTags([LOADED, other])).toMatchObject({
      issued: 7,
      buffered: 20,
      rate: 5,
      lastsMs: 4000,
      loads: 3,
      failures: 1,
      step: 20,
      position: '1',
    });
  });

  it('shows the segments of the first that has some', () => {
    expect(mergeTags([FRESH, { ...LOADED, position: '5' }])).toMatchObject({ initialized: true, position: '5' });
    expect(mergeTags([FRESH, FRESH])).toMatchObject({ initialized: false, nextReady: false, position: null });
  });

  it('shows the segments of the newest period', () => {
    const older = { ...LOADED, period: '2026-11-22', position: '500' };
    const newer = { ...LOADED, period: '2026-11-23', position: '2', issued: 1 };
    expect(mergeTags([older, newer])).toMatchObject({ period: '2026-11-23', position: '2', issued: older.issued + 1 });
    expect(mergeTags([newer, older])).toMatchObject({ period: '2026-11-23', position: '2' });
  });

  it('is as good as the one that has the least', () => {
    const waiting = { ...LOADED, nextReady: false, loading: true, paused: true };
    expect(mergeTags([LOADED, waiting])).toMatchObject({ nextReady: false, loading: true, paused: true });
  });

  it('tells of the newest load, and of a load that failed', () => {
    const newer = { ...LOADED, lastLoad: { at: 200, ms: 9, error: null } };
    const failed = { ...LOADED, lastLoad: { at: 50, ms: 2, error: 'away' } };
    expect(mergeTags([LOADED, newer, failed])?.lastLoad).toEqual({ at: 200, ms: 9, error: 'away' });
  });
});

describe('MergedTags', () => {
  it('follows what changes in each process', () => {
    const merged = new MergedTags();
    merged.take(0, changes({ whole: true }, LOADED));
    merged.take(1, changes({ whole: true, feed: 2, round: 4 }, LOADED, { ...LOADED, tag: 'user' }));
    expect(merged.names()).toEqual(['order', 'user']);
    expect(merged.viewOf('order')?.issued).toBe(6);
    expect(merged.positions()).toEqual({ 0: { feed: 1, round: 1 }, 1: { feed: 2, round: 4 } });

    const [order, user] = [merged.revisionOf('order'), merged.revisionOf('user')];
    merged.take(0, changes({ round: 2 }, { ...LOADED, issued: 10 }));
    expect(merged.viewOf('order')?.issued).toBe(13);
    expect(merged.revisionOf('order')).not.toBe(order);
    expect(merged.revisionOf('user')).toBe(user);
  });

  it('forgets a tag when no process has it any more', () => {
    const merged = new MergedTags();
    merged.take(0, changes({ whole: true }, LOADED));
    merged.take(1, changes({ whole: true }, LOADED));
    merged.take(0, changes({ round: 2, gone: ['order'] }));
    expect(merged.viewOf('order')?.issued).toBe(3);
    merged.take(1, changes({ round: 2, gone: ['order'] }));
    expect(merged.names()).toStrictEqual([]);
    expect(merged.viewOf('order')).toBeUndefined();
  });

  it('begins anew with a process that was replaced, and does without one that is gone', () => {
    const merged = new MergedTags();
    merged.take(0, changes({ whole: true }, LOADED, { ...LOADED, tag: 'user' }));
    merged.take(0, changes({ whole: true, feed: 9 }, { ...LOADED, issued: 1 }));
    expect(merged.names()).toEqual(['order']);
    expect(merged.viewOf('order')?.issued).toBe(1);
    merged.forget(0);
    expect(merged.names()).toStrictEqual([]);
    expect(merged.positions()).toEqual({});
  });
});
