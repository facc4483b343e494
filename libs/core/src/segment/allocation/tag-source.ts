import type { LeafError } from '../../errors/leaf-error';
import type { IdRange } from '../tags/id-range';
import type { DoubleBufferSnapshot } from './segment-snapshot';
import type { TagOrder } from '../tags/tag-settings';

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
