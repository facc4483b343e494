import type { MonitorTag } from '../../monitor/views';

export type NextState = 'empty' | 'loading' | 'ready' | 'failed';

/** Geometry of the two segments of a tag. Sizes are in IDs; ratios are from 0 to 1. */
export interface BufferShape {
  readonly current: { readonly size: number; readonly left: number; readonly used: number } | undefined;
  readonly next: { readonly state: NextState; readonly size: number; readonly left: number };
}

export function shapeOf({ segments: [first, second], loading, lastLoad, step, databaseStep }: MonitorTag): BufferShape {
  // A next segment that is not loaded yet has the size of the latest load.
  const expected = Math.max(1, step, databaseStep);
  const state = second !== null ? 'ready' : loading ? 'loading' : lastLoad.error === null ? 'empty' : 'failed';
  const next = {
    state,
    size: second?.step ?? expected,
    left: second === null ? 0 : leftOf(second),
  } as const;
  if (first === null) return { current: undefined, next };
  const left = leftOf(first);
  const size = Math.max(first.step, left, 1);
  return { current: { size, left, used: (size - left) / size }, next };
}

/** Exact as a number, because a segment has at most a billion IDs. */
function leftOf({ value, max }: { readonly value: string; readonly max: string }): number {
  return Number(BigInt(max) - BigInt(value));
}

/** Severity of a low `lasts` value. */
export function urgencyOf(lastsMs: number | null): 'calm' | 'amber' | 'red' {
  if (lastsMs === null || lastsMs >= 600_000) return 'calm';
  return lastsMs < 60_000 ? 'red' : 'amber';
}
