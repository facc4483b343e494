import type { Clock } from '../../clock/clock';
import { type Survey, usedOnly } from './tag-lookup';

export interface HotTagsOptions {
  /** How long a tag is hot after its last use, in milliseconds. */
  readonly keptMs: number;
  /** Maximum number of hot tags; the least recently used ones are dropped. */
  readonly most: number;
}

export const DEFAULT_HOT_TAGS: HotTagsOptions = { keptMs: 86_400_000, most: 1000 };

/** Tracks which tags are in use. A start preloads them, so that first requests do not wait for the store. */
export class HotTags {
  /** Time of the last use of each hot tag, least recently used first. */
  private readonly usedAt = new Map<string, number>();
  /** Number of IDs each tag had issued at the last observation. */
  private issued = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly options: HotTagsOptions,
  ) {}

  /** Restores the hot tags of an earlier process, with the time of their last use in Unix milliseconds. */
  restore(tags: Iterable<readonly [string, number]>): void {
    const now = this.clock.now();
    for (const [tag, usedAt] of [...tags].sort(([, a], [, b]) => a - b)) this.use(tag, Math.min(usedAt, now));
  }

  /**
   * Records which tags have issued IDs since the last observation.
   *
   * @param survey calls its argument with each tag and the number of IDs it has issued; called a second time after
   *   tags were removed
   */
  async observe(survey: Survey): Promise<void> {
    const now = this.clock.now();
    let used = 0;
    // In place: a new map of 100,000 tags takes 4 MB, and its growth leaves as much garbage.
    await survey((tag, issued) => {
      if (issued === 0) return;
      used++;
      if (issued === this.issued.get(tag)) return;
      this.issued.set(tag, issued);
      this.use(tag, now);
    });
    if (used < this.issued.size) this.issued = await usedOnly(this.issued, survey);
  }

  /** The hot tags with the time of their last use, most recently used first. */
  list(): [string, number][] {
    const oldest = this.clock.now() - this.options.keptMs;
    for (const [tag, usedAt] of this.usedAt) {
      if (usedAt <= oldest) this.usedAt.delete(tag);
    }
    return [...this.usedAt].reverse();
  }

  private use(tag: string, at: number): void {
    this.usedAt.delete(tag);
    this.usedAt.set(tag, at);
    if (this.usedAt.size <= this.options.most) return;
    const [oldest = ''] = this.usedAt.keys();
    this.usedAt.delete(oldest);
  }
}
