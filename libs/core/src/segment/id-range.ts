/** IDs `from` to `to`, both included. */
export interface IdRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** The largest ID: a signed 64-bit integer. */
export const MAX_ID = 2n ** 63n - 1n;

export function sizeOf({ from, to }: IdRange): number {
  return Number(to - from) + 1;
}
