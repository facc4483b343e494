import type { IdRange } from './id-range';
import type { RangeSourceSnapshot } from './range-source';
import type { Segment } from './segment';
import type { TagOrder } from './tag-settings';

export interface SegmentSnapshot extends IdRange {
  /** The next ID to be issued; one past `to` when there is none. */
  readonly position: bigint;
}

export interface DoubleBufferSnapshot extends RangeSourceSnapshot {
  readonly tag: string;
  /** A strict tag holds no segments. */
  readonly order: TagOrder;
  /** IDs handed out since the tag is known here. */
  readonly issued: number;
  /** IDs at hand without asking the store. */
  readonly buffered: number;
  readonly current: SegmentSnapshot | undefined;
  readonly next: SegmentSnapshot | undefined;
  /** What waits behind the next segment: IDs that came too late for a call that had given up. Mostly none. */
  readonly spare: readonly SegmentSnapshot[];
  readonly loading: boolean;
}

export interface TagSnapshot extends DoubleBufferSnapshot {
  readonly paused: boolean;
  /** Of a tag that begins anew: the newest period in use, whose buffer is shown. */
  readonly period?: string | undefined;
}

/** Told of a tag: the IDs issued since it is known here, those at hand, and the size of its newest load. */
export type TagVisit = (tag: string, issued: number, buffered: number, step: number) => void;

export function view(segment: Segment): SegmentSnapshot {
  return { ...segment.range, position: segment.position };
}
