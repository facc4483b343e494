import type { Clock } from '@leaf-ids/core';

/** One call takes at most what the quota grants in this time. */
export const MAX_ADVANCE_S = 60;

/**
 * A token bucket that holds the IDs of one second. A call passes while at least one ID is left; a larger call takes the
 * rest in advance, and the next call waits until it is granted. Without this, a client that prefetches the IDs of
 * several seconds could never be served.
 */
export class IdQuota {
  /** IDs left; negative if some were taken in advance. */
  private level: number;
  /** Monotonic time of `level`. */
  private at: number;

  /** @param idsPerSecond Infinity is no limit */
  constructor(
    private readonly idsPerSecond: number,
    private readonly clock: Clock,
  ) {
    this.level = idsPerSecond;
    this.at = clock.monotonic();
  }

  /** Maximum number of IDs in one call. */
  get maxCount(): number {
    return this.idsPerSecond * MAX_ADVANCE_S;
  }

  /** Takes `count` IDs if the quota allows it. */
  take(count: number): boolean {
    if (count > this.maxCount || this.waitMs() > 0) return false;
    this.level -= count;
    return true;
  }

  /** Returns IDs that were taken and not issued. */
  giveBack(count: number): void {
    this.level = Math.min(this.idsPerSecond, this.level + count);
  }

  /** Milliseconds until the next call passes; 0 if it passes now. */
  waitMs(): number {
    if (this.idsPerSecond === Infinity) return 0;
    // Also when it is full: otherwise the time for which it was full would fill it once more.
    const now = this.clock.monotonic();
    this.level = Math.min(this.idsPerSecond, this.level + ((now - this.at) / 1000) * this.idsPerSecond);
    this.at = now;
    return this.level >= 1 ? 0 : ((1 - this.level) / this.idsPerSecond) * 1000;
  }
}
