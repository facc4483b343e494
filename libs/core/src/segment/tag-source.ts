import type { LeafError } from '../errors/leaf-error';
import type { IdRange } from './id-range';
import type { DoubleBufferSnapshot } from './segment-snapshot';
import type { TagOrder } from './tag-settings';

/** Where the IDs of one tag come from: a double buffer, or the line of a strict tag. */
export interface TagSource {
  readonly tag: string;
  readonly order: TagOrder;
  /** IDs handed out so far. */
  readonly issued: number;
  /** The highest ID that is known to be taken of the tag; 0 before the first. */
  readonly highest: bigint;
  /** IDs at hand without asking the store. */
  readonly buffered: number;
  /** Another number when a snapshot would be another one; never a number that was there before. */
  readonly revision: number;
  /** Size of the newest load; 0 before the first. */
  readonly step: number;

  /** The next ID, or undefined when none is buffered. */
  tryNext(): bigint | undefined;

  /** The next ID, waiting for the store if need be. @throws LeafError */
  take(): Promise<bigint>;

  /** The next `count` IDs as ascending ranges, or undefined when fewer are buffered. */
  tryRanges(count: number): IdRange[] | undefined;

  /** The next `count` IDs as ascending ranges, waiting for the store if need be. @throws LeafError */
  takeRanges(count: number): Promise<IdRange[]>;

  /** Fetches IDs ahead of the first call, where that is done. */
  preload(): Promise<void>;

  /**
   * Ends it: calls from now on, waiting ones included, are refused with `reason`, which is made when it is needed.
   *
   * @returns what was not issued, newest range first, once no allocation is under way
   */
  retire(reason: () => LeafError): Promise<IdRange[]>;

  snapshot(): DoubleBufferSnapshot;
}
