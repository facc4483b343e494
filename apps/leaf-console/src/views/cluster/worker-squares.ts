import type { ClusterWorker, ClusterWorkers } from '../../monitor/views';
import type { Sorting } from '../../ui/virtual-table';

export const SQUARE_KINDS = ['server', 'window', 'expired', 'released', 'free'] as const;
export type SquareKind = (typeof SQUARE_KINDS)[number];

/** Squares in a row of the map. */
export const COLUMNS = 32;
/** Larger layouts have only the table. */
export const MAX_SQUARES = 4096;

/** One worker ID. `record` is undefined for a free one. */
export interface Square {
  readonly workerId: number;
  readonly kind: SquareKind;
  readonly record: ClusterWorker | undefined;
}

export function kindOf({ state, kind }: ClusterWorker): SquareKind {
  return state === 'held' ? kind : state;
}

export function squaresOf({ workerIds, workers }: ClusterWorkers): Square[] {
  const records = new Map(workers.map((record) => [record.workerId, record]));
  return Array.from({ length: Math.min(workerIds, MAX_SQUARES) }, (_, workerId) => {
    const record = records.get(workerId);
    return { workerId, kind: record === undefined ? 'free' : kindOf(record), record };
  });
}

export function countKinds({ workerIds, workers }: ClusterWorkers): Readonly<Record<SquareKind, number>> {
  const counts = { server: 0, window: 0, expired: 0, released: 0, free: workerIds - workers.length };
  for (const record of workers) counts[kindOf(record)]++;
  return counts;
}

/** The square to which a key moves; undefined for other keys. */
export function squareAfter(key: string, from: number, count: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from - COLUMNS,
    ArrowDown: from + COLUMNS,
    Home: from - (from % COLUMNS),
    End: from - (from % COLUMNS) + COLUMNS - 1,
    PageUp: from % COLUMNS,
    PageDown: count - COLUMNS + (from % COLUMNS),
  };
  const to = steps[key];
  if (to === undefined) return undefined;
  return to < 0 || to >= count ? from : to;
}

export type WorkerColumn = 'workerId' | 'kind' | 'holder' | 'until';

/** The records that match `search`, sorted; ties are sorted by worker ID. */
export function selectWorkers(
  workers: readonly ClusterWorker[],
  search: string,
  { by, descending }: Sorting<WorkerColumn>,
): ClusterWorker[] {
  const wanted = search.trim().toLowerCase();
  const keys: Readonly<Record<WorkerColumn, (record: ClusterWorker) => number | string>> = {
    workerId: ({ workerId }) => workerId,
    kind: (record) => SQUARE_KINDS.indexOf(kindOf(record)),
    holder: ({ holder }) => holder,
    until: ({ ceiling }) => ceiling,
  };
  const key = keys[by];
  const sign = descending ? -1 : 1;
  return workers
    .filter(({ workerId, holder }) => String(workerId) === wanted || holder.toLowerCase().includes(wanted))
    .sort((a, b) => {
      const [left, right] = [key(a), key(b)];
      return left === right ? a.workerId - b.workerId : sign * (left < right ? -1 : 1);
    });
}
