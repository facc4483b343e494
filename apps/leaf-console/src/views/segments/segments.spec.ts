import { RateHistory } from '../../monitor/rate-history';
import type { MonitorTag } from '../../monitor/views';
import { drawnRows } from '../../ui/virtual-rows';
import { shapeOf, urgencyOf } from './buffer-shape';
import { selectTags } from './tag-order';

function viewOf(fields: Partial<MonitorTag>): MonitorTag {
  const lastLoad = { at: null, ms: null, error: null };
  const none = { tag: 'a', segments: [null, null], loading: false, step: 0, databaseStep: 0, lastLoad } as const;
  return { ...none, initialized: false, paused: false, rate: 0, buffered: 0, lastsMs: null, ...fields } as MonitorTag;
}

const BIG = 9007199254740993000n;
const HALF = { value: String(BIG + 500n), max: String(BIG + 1000n), step: 1000 };

describe('shapeOf', () => {
  it('calculates the used share of a segment for IDs of any size', () => {
    const { current, next } = shapeOf(viewOf({ segments: [HALF, { ...HALF, value: String(BIG), step: 4000 }] }));
    expect(current).toEqual({ size: 1000, left: 500, used: 0.5 });
    expect(next).toEqual({ state: 'ready', size: 4000, left: 1000 });
  });

  it('returns the state of the next segment', () => {
    const failed = { at: 1, ms: 2, error: 'refused' };
    const next = (fields: Partial<MonitorTag>): string =>
      shapeOf(viewOf({ segments: [HALF, null], step: 1000, ...fields })).next.state;
    expect(next({})).toBe('empty');
    expect(next({ loading: true })).toBe('loading');
    expect(next({ lastLoad: failed })).toBe('failed');
    expect(next({ lastLoad: failed, loading: true })).toBe('loading');
    expect(shapeOf(viewOf({ databaseStep: 7 }))).toMatchObject({ current: undefined, next: { size: 7 } });
  });
});

it.each([
  [null, 'calm'],
  [600_000, 'calm'],
  [599_999, 'amber'],
  [60_000, 'amber'],
  [59_999, 'red'],
  [0, 'red'],
])('what lasts %s ms is %s', (lastsMs, urgency) => {
  expect(urgencyOf(lastsMs)).toBe(urgency);
});

describe('selectTags', () => {
  const tags = [
    viewOf({ tag: 'b', rate: 5, lastsMs: 1000, initialized: true }),
    viewOf({ tag: 'A', rate: 5, initialized: true, paused: true }),
    viewOf({ tag: 'c' }),
  ].map((view) => ({ view, rates: new RateHistory(0, 0) }));
  const names = (...rest: [string, Parameters<typeof selectTags>[2], Parameters<typeof selectTags>[3]]): string[] =>
    selectTags(tags, ...rest).map(({ view }) => view.tag);

  it('sorts, with ties by name', () => {
    expect(names('', 'all', { by: 'tag', descending: false })).toEqual(['A', 'b', 'c']);
    expect(names('', 'all', { by: 'tag', descending: true })).toEqual(['c', 'b', 'A']);
    expect(names('', 'all', { by: 'rate', descending: true })).toEqual(['A', 'b', 'c']);
    expect(names('', 'all', { by: 'lasts', descending: false })).toEqual(['b', 'A', 'c']);
  });

  it('searches and filters', () => {
    const sorting = { by: 'tag', descending: false } as const;
    expect(names(' a', 'all', sorting)).toEqual(['A']);
    expect(names('', 'loaded', sorting)).toEqual(['A', 'b']);
    expect(names('', 'busy', sorting)).toEqual(['A', 'b']);
    expect(names('', 'trouble', sorting)).toEqual(['A', 'b']);
    expect(names('x', 'all', sorting)).toStrictEqual([]);
  });
});

describe('drawnRows', () => {
  it('contains the visible rows and some more', () => {
    expect(drawnRows(10_000, 40, 0, 400)).toEqual({ first: 0, end: 19 });
    expect(drawnRows(10_000, 40, 4000, 400)).toEqual({ first: 92, end: 119 });
    expect(drawnRows(10_000, 40, 399_600, 400)).toEqual({ first: 9981, end: 10_000 });
  });

  it('stays within the rows', () => {
    expect(drawnRows(3, 40, 9000, 400)).toEqual({ first: 0, end: 3 });
    expect(drawnRows(30, 40, 9000, 400)).toEqual({ first: 11, end: 30 });
    expect(drawnRows(0, 40, -30, 400)).toEqual({ first: 0, end: 0 });
  });
});
