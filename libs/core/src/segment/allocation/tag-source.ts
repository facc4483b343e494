import type { LeafError } from '../../errors/leaf-error';
import type { IdRange } from '../tags/id-range';
import type { TagOrder } from '../tags/tag-settings';
import type { DoubleBufferSnapshot } from './segment-snapshot';

/** The sources that have asked the store for IDs, and the number of IDs issued by them and by those that ended. */
export class UsedSources {
  private readonly sources = new Set<TagSource>();
  private issuedBefore = 0;

  /** Call this before each load of `source`: before its first load, a source cannot have issued IDs. */
  add(source: TagSource): void {
    this.sources.add(source);
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
