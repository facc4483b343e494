import type { LeafErrorCode } from '../../errors/error-catalogue';
import { isLeafError, type LeafError } from '../../errors/leaf-error';
import type { IdRange } from '../tags/id-range';
import type { TagOrder } from '../tags/tag-settings';
import type { RangeSourceSnapshot } from './range-source';
import type { Segment } from './segment';

/** Errors of an allocation that concern its caller, not the operator. */
const EXPECTED: readonly LeafErrorCode[] = ['LEAF_TAG_EXHAUSTED', 'LEAF_TAG_NOT_FOUND', 'LEAF_SIZE_INVALID'];
/** How long a tag counts as failing after its latest failure, in milliseconds: without calls, it is not tried again. */
const FAILING_MS = 60_000;

/** Tags that refuse their calls. */
export interface FailingTags {
  /** One of them. */
  readonly tag: string;
  /** Number of such tags. */
  readonly count: number;
  /** The latest error of `tag`. */
  readonly error: unknown;
}

/** The sources that have asked the store for IDs, and the number of IDs issued by them and by those that ended. */
export class UsedSources {
  private readonly sources = new Set<TagSource>();
  /** Sources without a buffered ID whose latest allocation failed, in the order of these failures. */
  private readonly failed = new Map<{ readonly tag: string }, { readonly error: unknown; readonly at: number }>();
  private issuedBefore = 0;

  /** Call this before each load of `source`: before its first load, a source cannot have issued IDs. */
  add(source: TagSource): void {
    this.sources.add(source);
  }

  /**
   * Records the outcome of an allocation.
   *
   * @param error undefined after a success
   * @param now monotonic milliseconds
   */
  note(source: Pick<TagSource, 'tag' | 'buffered'>, error: unknown, now: number): void {
    this.failed.delete(source);
    if (error === undefined || source.buffered > 0 || EXPECTED.some((code) => isLeafError(error, code))) return;
    this.failed.set(source, { error, at: now });
  }

  /**
   * Undefined if no used tag is failing. Costs the same with any number of tags, but for those that have failed before.
   *
   * @param now monotonic milliseconds
   */
  failing(now: number): FailingTags | undefined {
    for (const [source, { error, at }] of this.failed) {
      if (now - at < FAILING_MS) return { tag: source.tag, count: this.failed.size, error };
      this.failed.delete(source);
    }
    return undefined;
  }

  /** @param onUsed receives each source that has issued IDs and has not ended */
  countIssued(onUsed?: (source: TagSource) => void): number {
    let sum = this.issuedBefore;
    for (const source of this.sources) {
      const { issued } = source;
      sum += issued;
      if (onUsed !== undefined && issued > 0) onUsed(source);
    }
    return sum;
  }

  /** Ends a source; its IDs stay counted. @returns the unissued ranges, newest first, once no allocation is in progress */
  async retire(source: TagSource, reason: () => LeafError): Promise<IdRange[]> {
    const rest = await source.retire(reason);
    this.failed.delete(source);
    if (this.sources.delete(source)) this.issuedBefore += source.issued;
    return rest;
  }
}

/** The source of the IDs of one tag: a double buffer, or a strict tag. */
export interface TagSource {
  readonly tag: string;
  readonly order: TagOrder;
  /** Number of IDs issued. */
  readonly issued: number;
  /** The highest ID of the tag known to be taken; 0 if none is. */
  readonly highest: bigint;
  /** Number of buffered IDs. */
  readonly buffered: number;
  /** Version: changes whenever {@link snapshot} would; never repeats a value. */
  readonly revision: number;
  /** The newest refresh in which the store had the tag. */
  listed: number;
  /** Size of the newest load; 0 before the first. */
  readonly step: number;

  /** The next ID, or undefined when none is buffered. */
  tryNext(): bigint | undefined;

  /** As {@link tryNext}, as a number; undefined also when a number cannot represent the ID exactly. */
  tryNextNumber(): number | undefined;

  /** The next ID; waits for the store if necessary. @throws LeafError */
  take(): Promise<bigint>;

  /**
   * The next `count` IDs as ascending ranges, or undefined when fewer are buffered.
   *
   * @param consecutive the ranges adjoin each other; buffered IDs below them become a gap
   */
  tryRanges(count: number, consecutive?: boolean): IdRange[] | undefined;

  /**
   * As {@link tryRanges}; waits for the store if necessary.
   *
   * @throws LeafError `LEAF_SIZE_INVALID` if the store gives fewer consecutive IDs
   */
  takeRanges(count: number, consecutive?: boolean): Promise<IdRange[]>;

  /** Loads IDs before the first call, if this source buffers IDs. */
  preload(): Promise<void>;

  /**
   * Ends the source: later and waiting calls are refused with the error that `reason` creates.
   *
   * @returns the unissued ranges, newest first, once no allocation is in progress
   */
  retire(reason: () => LeafError): Promise<IdRange[]>;

  snapshot(): DoubleBufferSnapshot;
}

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
