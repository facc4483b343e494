import { LeafError } from '../errors/leaf-error';
import type { IdRange } from './id-range';
import type { Period } from './periods';
import type { TagKind } from './tag-settings';

/** A range that now belongs to the caller alone, and what the row says besides. */
export interface Allocation extends IdRange {
  /** The step in the database's row. */
  readonly step: number;
  /** The largest step in the row; undefined when it has none. */
  readonly maxStep?: number | undefined;
}

/** The next `size` IDs of a tag are wanted. */
export interface AllocationRequest {
  readonly tag: string;
  readonly size: number;
}

/** A tag that the store has. */
export interface TagEntry {
  readonly tag: string;
  /** Undefined when the row holds settings that make no sense. */
  readonly kind: TagKind | undefined;
}

/** Asked for by a {@link SegmentStore.ping}; whether it exists does not matter. */
const PING_TAG = 'ping';

/**
 * Where the ranges of the tags are taken from: one row a tag, holding the first ID that is not taken yet (`max_id`) and
 * the step.
 *
 * An implementation may *not* assume that it is the only one on its rows, nor that a statement without an answer was
 * not carried out: such a range is a gap, and never handed out on a guess. Tags are compared exactly; a row whose name
 * differs in case or trailing spaces is another tag, even where the database's collation holds them equal. Every call
 * ends within the store's time limit.
 *
 * Faults of the store itself reject with `LEAF_STORE_UNAVAILABLE` (retryable).
 */
export abstract class SegmentStore {
  /** The store as an operator knows it, without secrets: `sqlite:/var/lib/leaf/leaf.sqlite`. */
  abstract readonly description: string;

  /** The tags, without the rows of their periods. */
  abstract listTags(): Promise<TagEntry[]>;

  abstract findTag(tag: string): Promise<TagEntry | undefined>;

  /**
   * Takes the next `size` IDs of a tag, or as many as the row's step says when `size` is undefined, and raises `max_id`
   * past them in the same atomic statement. The range lies above all IDs of a deleted tag of this name, even when the row
   * was inserted by hand. An interleaved tag gives one whole block, whatever the size.
   *
   * @throws LeafError `LEAF_TAG_NOT_FOUND`, `LEAF_TAG_EXHAUSTED` when they would pass the last ID of the tag (nothing is taken then),
   *   `LEAF_TAG_ROW_INVALID` when the row makes no sense, `LEAF_STORE_UNAVAILABLE`
   */
  abstract allocate(tag: string, size: number | undefined): Promise<Allocation>;

  /**
   * {@link allocate} for several tags, each of them named once, in as few statements as the store can. What one request
   * is refused with is its answer, and leaves the others alone.
   *
   * @returns one answer each, in the order of the requests
   */
  async allocateAll(requests: readonly AllocationRequest[]): Promise<(Allocation | LeafError)[]> {
    const answers: (Allocation | LeafError)[] = [];
    for (const { tag, size } of requests) answers.push(await orRefusal(this.allocate(tag, size)));
    return answers;
  }

  /** Names the database that has the tag: requests of one database can share a statement. */
  databaseOf(_tag: string): string {
    return this.description;
  }

  /**
   * Gives a range back: lowers `max_id` from `to + 1` to `from`, only if no range was allocated since. An interleaved tag
   * takes back whole blocks only.
   *
   * @returns whether the row was changed
   */
  abstract giveBack(tag: string, range: IdRange): Promise<boolean>;

  /** Lets the tag give `minimum` at least, as its next ID; never lowers what it gives next. */
  abstract raise(tag: string, minimum: bigint): Promise<void>;

  /**
   * Makes sure that the period of a tag has a row ({@link periodRow}), with the settings of the tag's row; idempotent. A
   * row that has to be made begins where the tag says, above `least`, above what a deleted row of this name had come
   * to, and, where a failover may have lost an earlier one, above the gap. A period is refused outside of its window by
   * the clock of the store.
   *
   * @param kind as the caller knows it; a tag with other periods is not found
   * @throws LeafError `LEAF_TAG_NOT_FOUND`, `LEAF_PERIOD_INVALID`, `LEAF_STORE_UNAVAILABLE`
   */
  abstract beginPeriod(tag: string, kind: TagKind, period: Period, least: bigint): Promise<void>;

  /** Records that a tag whose row is gone had given IDs below `nextId`; never lowers what is recorded. */
  abstract recordDeleted(tag: string, nextId: bigint): Promise<void>;

  /**
   * Asks whether the store answers, at the cost of one row.
   *
   * @returns which part of it does not; undefined when all of it does
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` when none does
   */
  async ping(): Promise<string | undefined> {
    await this.findTag(PING_TAG);
    return undefined;
  }
}

/** @throws what is not a LeafError */
export async function orRefusal<T>(answer: Promise<T>): Promise<T | LeafError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof LeafError) return error;
    throw error;
  }
}
