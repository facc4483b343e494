import type { Clock } from '../../clock/clock';
import { withinDeadline } from '../../util/deadline';
import { Semaphore } from '../../util/semaphore';
import type { SegmentStore, TagEntry } from '../tags/segment-store';
import { segmentUnavailable, stopping } from '../tags/tag-refusals';

/** How long a missing tag is cached, in milliseconds. */
const NOT_FOUND_MS = 1000;
/** Maximum number of cached tags; the oldest is dropped first. */
const NOT_FOUND_KEPT = 10_000;
/** Queries to a database at the same time: on a slow one they leave connections to the tags that are known. */
const MAX_QUERIES = 4;
/** Tags of a database that may wait for their query; further ones are refused. */
const MAX_WAITING = 10_000;

/** Negative cache: tags that the store did not have. Repeated calls for them do not reach the store. */
class UnknownTags {
  private readonly until = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  has(tag: string): boolean {
    return (this.until.get(tag) ?? -Infinity) > this.clock.monotonic();
  }

  add(tag: string): void {
    this.until.delete(tag);
    this.until.set(tag, this.clock.monotonic() + NOT_FOUND_MS);
    const [oldest = tag] = this.until.keys();
    if (this.until.size > NOT_FOUND_KEPT) this.until.delete(oldest);
  }
}

/**
 * Looks up unknown tags in the store, a few at a time. Concurrent calls for a tag share one query, and a missing tag is
 * cached for a short time.
 */
export class TagLookup {
  private readonly running = new Map<string, Promise<TagEntry | undefined>>();
  private readonly unknown: UnknownTags;
  /** Keyed by database: one that does not answer must not hold the lookups of the others. */
  private readonly queries = new Map<string, Semaphore>();

  constructor(
    private readonly store: SegmentStore,
    private readonly clock: Clock,
    private readonly waitMs: number,
    private readonly closing: AbortSignal,
  ) {
    this.unknown = new UnknownTags(clock);
  }

  /**
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`; `LEAF_SEGMENT_UNAVAILABLE` past the wait limit; `LEAF_NOT_READY` if its
   *   turn comes after the end
   */
  find(tag: string): Promise<TagEntry | undefined> {
    let running = this.running.get(tag);
    if (running === undefined) {
      running = this.ask(tag).finally(() => this.running.delete(tag));
      this.running.set(tag, running);
    }
    return running;
  }

  private async ask(tag: string): Promise<TagEntry | undefined> {
    if (this.unknown.has(tag)) return undefined;
    // After the calls of this turn: a burst of them must not use up the time of the store.
    await Promise.resolve();
    const deadline = this.clock.monotonic() + this.waitMs;
    const queries = this.queriesOf(tag);
    if (!(await queries.enter(deadline))) throw segmentUnavailable(tag, this.waitMs, undefined);
    const answer = this.query(tag, queries);
    if (!(await withinDeadline(answer, deadline, this.clock))) throw segmentUnavailable(tag, this.waitMs, undefined);
    const found = await answer;
    if (found === undefined) this.unknown.add(tag);
    return found;
  }

  private async query(tag: string, queries: Semaphore): Promise<TagEntry | undefined> {
    try {
      // The database may be closed.
      if (this.closing.aborted) throw stopping();
      return await this.store.findTag(tag);
    } finally {
      queries.leave();
    }
  }

  private queriesOf(tag: string): Semaphore {
    const database = this.store.databaseOf(tag);
    let queries = this.queries.get(database);
    if (queries === undefined) {
      queries = new Semaphore(MAX_QUERIES, this.clock, MAX_WAITING);
      this.queries.set(database, queries);
    }
    return queries;
  }
}

/** Calls `see` with each tag and the number of IDs that it has issued since it was loaded. */
export type Survey = (see: (tag: string, issued: number) => void) => Promise<void>;

/** The entries of `known` without tags that are gone, or that were created again and have not issued an ID since. */
export async function usedOnly<Value>(known: ReadonlyMap<string, Value>, survey: Survey): Promise<Map<string, Value>> {
  const used = new Map<string, Value>();
  await survey((tag, issued) => {
    const value = known.get(tag);
    if (issued > 0 && value !== undefined) used.set(tag, value);
  });
  return used;
}
