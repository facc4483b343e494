import { LeafError } from '../../errors/leaf-error';

/** IDs from `from` to `to`, both inclusive. */
export interface IdRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** The largest ID, 2^63 - 1. */
export const MAX_ID = 2n ** 63n - 1n;

/** Maximum number of IDs of one batch call. */
export const MAX_BATCH_SIZE = 10_000;
/** Maximum number of IDs of one range call. */
export const MAX_RANGE_SIZE = 1_000_000;

/** The IDs of `ranges`, one by one. */
export function idsOf(ranges: readonly IdRange[]): bigint[] {
  const ids: bigint[] = [];
  for (const { from, to } of ranges) {
    for (let id = from; id <= to; id++) ids.push(id);
  }
  return ids;
}

/** As {@link idsOf}, as numbers. @throws LeafError as {@link numberOf} */
export function numbersOf(ranges: readonly IdRange[]): number[] {
  const numbers: number[] = [];
  for (const { from, to } of ranges) {
    const last = numberOf(to);
    for (let id = numberOf(from); id <= last; id++) numbers.push(id);
  }
  return numbers;
}

/** @throws LeafError `LEAF_ID_TOO_LARGE` if a number cannot represent `id` exactly */
export function numberOf(id: bigint): number {
  if (id <= Number.MAX_SAFE_INTEGER) return Number(id);
  throw new LeafError(
    'LEAF_ID_TOO_LARGE',
    `The ID ${id} exceeds 2^53 - 1, so a number cannot represent it exactly. The ID becomes a gap. Use nextId for bigints or nextIdString for decimal text.`,
  );
}

export function sizeOf({ from, to }: IdRange): number {
  return Number(to - from) + 1;
}
