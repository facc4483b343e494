import type { ClusterWorker } from '../../monitor/views';
import { countKinds, MAX_SQUARES, selectWorkers, squareAfter, squaresOf } from './worker-squares';

function record(workerId: number, more: Partial<ClusterWorker> = {}): ClusterWorker {
  return { workerId, kind: 'server', holder: `10.0.0.${workerId}:8080`, state: 'held', ceiling: 1000, ...more };
}

const WORKERS = [
  record(3),
  record(1, { kind: 'window', holder: 'billing' }),
  record(1023, { state: 'expired', holder: 'gone', ceiling: 10 }),
  record(7, { kind: 'window', state: 'released', holder: 'billing' }),
];
const ANSWER = { workerIds: 1024, now: 500, workers: WORKERS };

describe('squaresOf', () => {
  it('has a square for each worker ID', () => {
    const squares = squaresOf(ANSWER);
    expect(squares).toHaveLength(1024);
    expect([0, 1, 3, 7, 1023].map((id) => squares[id]?.kind)).toEqual([
      'free',
      'window',
      'server',
      'released',
      'expired',
    ]);
    expect(squares[1023]?.record?.ceiling).toBe(10);
  });

  it('draws no more squares than a page can take', () => {
    expect(squaresOf({ ...ANSWER, workerIds: 1 << 20 })).toHaveLength(MAX_SQUARES);
  });

  it('counts each state', () => {
    expect(countKinds(ANSWER)).toEqual({ server: 1, window: 1, expired: 1, released: 1, free: 1020 });
  });
});

describe('squareAfter', () => {
  it.each([
    ['ArrowRight', 5, 6],
    ['ArrowLeft', 0, 0],
    ['ArrowRight', 1023, 1023],
    ['ArrowDown', 5, 37],
    ['ArrowDown', 1000, 1000],
    ['ArrowUp', 37, 5],
    ['Home', 37, 32],
    ['End', 37, 63],
    ['PageUp', 997, 5],
    ['PageDown', 5, 997],
    ['Enter', 5, undefined],
  ])('%s from %i leads to %s', (key, from, to) => {
    expect(squareAfter(key, from, 1024)).toBe(to);
  });
});

describe('selectWorkers', () => {
  const ids = (search: string, by: 'workerId' | 'kind' | 'holder' | 'until', descending = false): number[] =>
    selectWorkers(WORKERS, search, { by, descending }).map(({ workerId }) => workerId);

  it('sorts by each column, and equal ones by worker ID', () => {
    expect(ids('', 'workerId', true)).toEqual([1023, 7, 3, 1]);
    expect(ids('', 'kind')).toEqual([3, 1, 1023, 7]);
    expect(ids('', 'holder', true)).toEqual([1023, 1, 7, 3]);
    expect(ids('', 'until')).toEqual([1023, 1, 3, 7]);
  });

  it('finds a worker ID or a holder', () => {
    expect(ids('BILL', 'workerId')).toEqual([1, 7]);
    expect(ids('1023', 'workerId')).toEqual([1023]);
    expect(ids('102', 'workerId')).toStrictEqual([]);
  });
});
