import { LeafError } from '../../errors/leaf-error';
import type { IdRange } from './id-range';
import type { Period } from './periods';
import type { TagKind } from './tag-settings';

/** A range that belongs to the caller exclusively, and the settings of the row. */
export interface Allocation extends IdRange {
  /** The step in the row. */
  readonly step: number;
  /** The maximum step in the row; undefined if the row has none. */
  readonly maxStep?: number | undefined;
  /** Only of an interleaved tag: the blocks after the first one, of the same size, ascending. May be empty. */
  readonly more?: readonly IdRange[] | undefined;
  /** Whether the store found that the tag had lost its history, and moved it forward first. */
  readonly wentBack?: boolean;
}

/** Maximum number of blocks of an interleaved tag in one allocation, and in one call. */
export const MAX_BLOCKS = 1_000;

/** `LEAF_TAG_EXHAUSTED` of a store that knows how many IDs the tag has left, so that a smaller load can take them. */
export class TagExhaustedError extends LeafError {
  constructor(
    message: string,
    readonly left: bigint,
  ) {
    super('LEAF_TAG_EXHAUSTED', message);
  }
}

/** A request for the next `size` IDs of a tag. */
export interface AllocationRequest {
  readonly tag: string;
  readonly size: number;
}

/** A tag that the store has. */
export interface TagEntry {
  readonly tag: string;
  /** Undefined if the settings in the row are invalid. */
  readonly kind: TagKind | undefined;
}

/** The tag that {@link SegmentStore.ping} looks up. It need not exist. */
const PING_TAG = 'ping';

/**
 * Allocates the ranges of the tags. Each tag has one row with the first ID that is not taken (`max_id`) and the step.
 *
 * An implementation must *not* assume that it is the only writer of its rows, or that a statement without a reply was
 * not executed: such a range becomes a gap and is never issued. Tags are compared byte by byte: a row whose name
 * differs in case or trailing spaces is a different tag, even if the database's collation considers them equal. Every
 * call ends within the store's time limit.
 *
 * Failures of the store reject with `LEAF_STORE_UNAVAILABLE` (retryable).
 */
export abstract class SegmentStore {
  /** Name of the store for operators, without secrets: `sqlite:/var/lib/leaf/leaf.sqlite`. */
  abstract readonly description: string;

  /** The tags, without the rows of their periods. */
  abstract listTags(): Promise<TagEntry[]>;

  /** As {@link listTags}, in pages: a store with many tags need not keep all of them in memory. */
  async *tagPages(): AsyncGenerator<readonly TagEntry[], void> {
    yield await this.listTags();
  }

  abstract findTag(tag: string): Promise<TagEntry | undefined>;

  /**
   * Takes the next `size` IDs of a tag, or one step of the row if `size` is undefined, and raises `max_id` past them in
   * the same atomic statement. The range is above all IDs of a deleted tag of the same name, even if the row was
   * inserted manually. An interleaved tag allocates whole blocks: as many as contain `size` IDs, but at most
   * {@link MAX_BLOCKS}; one if `size` is undefined.
   *
   * @throws LeafError `LEAF_TAG_NOT_FOUND`, `LEAF_TAG_EXHAUSTED` when the range would exceed the last ID of the tag (no
   *   ID is taken), preferably as a {@link TagExhaustedError}; `LEAF_TAG_ROW_INVALID` when the row is invalid,
   *   `LEAF_STORE_UNAVAILABLE`
   */
  abstract allocate(tag: string, size: number | undefined): Promise<Allocation>;

  /**
   * {@link allocate} for several distinct tags, in as few statements as possible. A request that fails has its error as
   * the result and does not affect the others.
   *
   * @returns one result per request, in the same order
   */
  async allocateAll(requests: readonly AllocationRequest[]): Promise<(Allocation | LeafError)[]> {
    const answers: (Allocation | LeafError)[] = [];
    for (const { tag, size } of requests) answers.push(await orRefusal(this.allocate(tag, size)));
    return answers;
  }

  /** Identifies the database of the tag: requests for the same database can share a statement. */
  databaseOf(_tag: string): string {
    return this.description;
  }

  /**
   * Returns a range to the store: lowers `max_id` from `to + 1` to `from`, but only if no range was allocated in
   * between. An interleaved tag accepts only whole blocks.
   *
   * @returns whether the row was changed
   */
  abstract giveBack(tag: string, range: IdRange): Promise<boolean>;

  /** Raises the next ID of the tag to at least `minimum`; never lowers it. */
  abstract raise(tag: string, minimum: bigint): Promise<void>;

  /**
   * Moves a tag that has lost its newest allocations above `minimum`, and above everything that other servers may have
   * issued. Does nothing once the tag is at `minimum` or above.
   *
   * @param minimum the ID after the highest that the caller knows to be taken
   */
  recover(tag: string, minimum: bigint): Promise<void> {
    return this.raise(tag, minimum);
  }

  /**
   * Creates the row of a period ({@link periodRow}) with the settings of the tag's row, unless it exists; idempotent. A
   * new row starts at the period start of the tag or higher: at or above `least`, above the IDs of a deleted row of
   * this name, and, if a failover may have lost an earlier row, above the gap. Rejects a period outside its time window
   * by the clock of the store.
   *
   * @param kind the expected kind; a tag with different periods is not found
   * @throws LeafError `LEAF_TAG_NOT_FOUND`, `LEAF_PERIOD_INVALID`, `LEAF_STORE_UNAVAILABLE`
   */
  abstract beginPeriod(tag: string, kind: TagKind, period: Period, least: bigint): Promise<void>;

  /** Records that a deleted tag had issued IDs below `nextId`; never lowers a recorded value. */
  abstract recordDeleted(tag: string, nextId: bigint): Promise<void>;

  /**
   * Checks that the store responds, with a lookup of one row.
   *
   * @returns the part that does not respond; undefined if all parts do
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` when no part responds
   */
  async ping(): Promise<string | undefined> {
    await this.findTag(PING_TAG);
    return undefined;
  }
}

/**
 * Returns a LeafError instead of throwing it.
 *
 * @throws any other error
 */
export async function orRefusal<T>(answer: Promise<T>): Promise<T | LeafError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof LeafError) return error;
    throw error;
  }
}
