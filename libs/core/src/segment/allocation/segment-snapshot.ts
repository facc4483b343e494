import type { IdRange } from '../tags/id-range';
import type { RangeSourceSnapshot } from './range-source';
import type { Segment } from './segment';
import type { TagOrder } from '../tags/tag-settings';

export interface SegmentSnapshot extends IdRange {
  /** The next ID to issue; `to` + 1 if there is none. */
  readonly position: bigint;
}

export interface DoubleBufferSnapshot extends RangeSourceSnapshot {
  readonly tag: string;
  /** A strict tag has no segments. */
  readonly order: TagOrder;
  /** Number of IDs issued by this process. */
  readonly issued: number;
  /** Number of buffered IDs. */
  readonly buffered: number;
  readonly current: SegmentSnapshot | undefined;
  readonly next: SegmentSnapshot | undefined;
  /** Segments after the next one: IDs that were loaded for calls that had timed out. Usually none. */
  readonly spare: readonly SegmentSnapshot[];
  readonly loading: boolean;
}

export interface TagSnapshot extends DoubleBufferSnapshot {
  readonly paused: boolean;
  /** The newest period in use of a periodic tag; the snapshot shows its buffer. */
  readonly period?: string | undefined;
}

/**
 * Receives a tag, the number of IDs this process has issued, the number of buffered IDs, and the size of the newest
 * load.
 */
export type TagVisit = (tag: string, issued: number, buffered: number, step: number) => void;

export function view(segment: Segment): SegmentSnapshot {
  return { ...segment.range, position: segment.position };
}
