import type { Clock } from '../clock/clock';
import type { DoubleBufferSnapshot } from './segment-view';

export interface HotTagsOptions {
  /** A tag counts as hot this long after its last use, in milliseconds. */
  readonly keptMs: number;
  /** So many tags at most, those used last. */
  readonly most: number;
}

export const DEFAULT_HOT_TAGS: HotTagsOptions = { keptMs: 86_400_000, most: 1000 };

/** Which tags are in use: what a start loads ahead, so that first requests need not wait for the store. */
export class HotTags {
  private readonly usedAt = new Map<string, number>();
  private readonly positions = new Map<string, bigint>();

  constructor(
    private readonly clock: Clock,
    private readonly options: HotTagsOptions,
  ) {}

  /** Takes over what an earlier process knew: tags with the time of their last use, in Unix milliseconds. */
  restore(tags: Iterable<readonly [string, number]>): void {
    for (const [tag, usedAt] of tags) this.usedAt.set(tag, Math.min(usedAt, this.clock.now()));
  }

  /** Looks which tags have moved on since the last look. */
  observe(snapshots: readonly DoubleBufferSnapshot[]): void {
    const now = this.clock.now();
    for (const { tag, current } of snapshots) {
      if (current === undefined || current.position === this.positions.get(tag)) continue;
      this.positions.set(tag, current.position);
      if (current.position !== current.from) this.usedAt.set(tag, now);
    }
  }

  /** The hot tags with the time of their last use, the latest first. */
  list(): [string, number][] {
    const oldest = this.clock.now() - this.options.keptMs;
    for (const [tag, usedAt] of this.usedAt) {
      if (usedAt <= oldest) this.usedAt.delete(tag);
    }
    return [...this.usedAt].sort(([, a], [, b]) => b - a).slice(0, this.options.most);
  }
}
