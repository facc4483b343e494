import type { Exposure, Issuer } from './issuer';

/**
 * Conditions under which two holders of one worker may clash. Each names the pair, the time and the worker; any other
 * clash is a bug.
 */
export const EXCUSES = [
  'two hosts of one ip:port, one going by its file meanwhile',
  'two copies of one data directory, one deciding alone',
  'a holder cut off for the whole grace, and a newcomer since',
  'clocks apart at the floor, and a newcomer since',
  'a copied process before it reached the registry',
] as const;

export type Excuse = (typeof EXCUSES)[number];
export type ExcuseCounts = Record<Excuse, number>;

export function noExcuses(): ExcuseCounts {
  return Object.fromEntries(EXCUSES.map((excuse) => [excuse, 0])) as ExcuseCounts;
}

/** IDs of one issuer that were issued under one exposure. */
export interface Piece {
  readonly issuer: Issuer;
  readonly exposure: Exposure;
}

/** A floor that was written while clocks were further apart than allowed. */
export interface ApartFloor {
  /** True milliseconds. */
  readonly at: number;
  /** Unix milliseconds up to which each holder of that time has issued, or may issue, because of its wrong clock. */
  readonly reach: ReadonlyMap<Issuer, number>;
}

/**
 * The condition that explains a clash of two pieces of one worker.
 *
 * @param from Unix milliseconds: the first timestamp that both may have used
 */
export function excuseOf(a: Piece, b: Piece, from: number, floors: readonly ApartFloor[]): Excuse | undefined {
  return (
    oneWay(a, b) ??
    oneWay(b, a) ??
    (isBelowReach(a, b, from, floors) || isBelowReach(b, a, from, floors) ? EXCUSES[3] : undefined)
  );
}

/** Whether what happened to `one` explains its clash with `other`. */
function oneWay({ issuer: one, exposure }: Piece, { issuer: other }: Piece): Excuse | undefined {
  const { byDisk, fork } = exposure;
  // The clock of a client may be ahead: it may have used the rest of its window before newcomers were admitted.
  const { missed } = one.kind === 'client' ? one.exposure : exposure;
  if (byDisk !== undefined) {
    if (one.instance === other.instance && one.host !== other.host) return EXCUSES[0];
    const { directory } = other;
    const isCopy = directory !== byDisk && directory?.lineage.some((each) => byDisk.lineage.includes(each)) === true;
    if (isCopy) return EXCUSES[1];
  }
  if (missed !== undefined && other.acquiredAt >= missed.admittedAt) return EXCUSES[2];
  if (fork === undefined) return undefined;
  // The registry may have given the worker to a successor, which the copy does not know.
  return other.leaseId === one.leaseId || other.acquiredAt >= fork.at ? EXCUSES[4] : undefined;
}

/** Whether `newcomer` acquired the worker above a floor that is below what `holder` may use. */
function isBelowReach(
  { issuer: holder }: Piece,
  { issuer: newcomer }: Piece,
  from: number,
  floors: readonly ApartFloor[],
): boolean {
  return floors.some(({ at, reach }) => newcomer.acquiredAt >= at && from <= (reach.get(holder) ?? 0));
}
