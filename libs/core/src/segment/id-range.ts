/** IDs from `from` to `to`, both inclusive. */
export interface IdRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** The largest ID, 2^63 - 1. */
export const MAX_ID = 2n ** 63n - 1n;

/** The IDs of `ranges`, one by one. */
export function idsOf(ranges: readonly IdRange[]): bigint[] {
  const ids: bigint[] = [];
  for (const { from, to } of ranges) {
    for (let id = from; id <= to; id++) ids.push(id);
  }
  return ids;
}

export function sizeOf({ from, to }: IdRange): number {
  return Number(to - from) + 1;
}
