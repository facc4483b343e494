import type { Clock } from '../clock/clock';

export interface HotTagsOptions {
  /** A tag counts as hot this long after its last use, in milliseconds. */
  readonly keptMs: number;
  /** So many tags at most, those used last. */
  readonly most: number;
}

export const DEFAULT_HOT_TAGS: HotTagsOptions = { keptMs: 86_400_000, most: 1000 };

/** Which tags are in use: what a start loads ahead, so that first requests need not wait for the store. */
export class HotTags {
  /** When the hot tags were used, the oldest use first. */
  private readonly usedAt = new Map<string, number>();
  /** How many IDs the tags in use had issued at the last look. */
  private issued = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly options: HotTagsOptions,
  ) {}

  /** Takes over what an earlier process knew: tags with the time of their last use, in Unix milliseconds. */
  restore(tags: Iterable<readonly [string, number]>): void {
    const now = this.clock.now();
    for (const [tag, usedAt] of [...tags].sort(([, a], [, b]) => a - b)) this.use(tag, Math.min(usedAt, now));
  }

  /**
   * Looks which tags have issued IDs since the last look.
   *
   * @param survey calls its argument with each tag and the IDs that it has issued since it is known
   */
  async observe(survey: (see: (tag: string, issued: number) => void) => Promise<void>): Promise<void> {
    const now = this.clock.now();
    const seen = new Map<string, number>();
    await survey((tag, issued) => {
      if (issued === 0) return;
      seen.set(tag, issued);
      if (issued !== this.issued.get(tag)) this.use(tag, now);
    });
    this.issued = seen;
  }

  /** The hot tags with the time of their last use, the latest first. */
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
    for (const oldest of this.usedAt.keys()) {
      if (this.usedAt.size <= this.options.most) return;
      this.usedAt.delete(oldest);
    }
  }
}
