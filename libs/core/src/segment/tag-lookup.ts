import type { Clock } from '../clock/clock';
import { withinDeadline } from '../deadline';
import type { SegmentStore, TagEntry } from './segment-store';
import { segmentUnavailable } from './unavailable';
import { UnknownTags } from './unknown-tags';

/**
 * Looks up unknown tags in the store. Concurrent calls for a tag share one query, and a missing tag is cached for a
 * short time.
 */
export class TagLookup {
  private readonly running = new Map<string, Promise<TagEntry | undefined>>();
  private readonly unknown: UnknownTags;

  constructor(
    private readonly store: SegmentStore,
    private readonly clock: Clock,
    private readonly waitMs: number,
  ) {
    this.unknown = new UnknownTags(clock);
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE`, or `LEAF_SEGMENT_UNAVAILABLE` past the wait limit */
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
    const answer = this.store.findTag(tag);
    const inTime = await withinDeadline(answer, this.clock.monotonic() + this.waitMs, this.clock);
    if (!inTime) throw segmentUnavailable(tag, this.waitMs, undefined);
    const found = await answer;
    if (found === undefined) this.unknown.add(tag);
    return found;
  }
}
