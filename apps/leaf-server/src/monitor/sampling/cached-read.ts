import type { Clock } from '@leaf-ids/core';

/**
 * A value that is expensive to read: one read for all callers, whose result is kept for a while. A failure is kept as
 * long, so that callers do not repeat a failing read one after the other.
 */
export class CachedRead<Value> {
  private latest: Promise<Value> | undefined;
  /** Monotonic milliseconds; infinite while a read is in progress. */
  private expiresAt = Infinity;

  /** @param keptMs how long a result is kept, in milliseconds after the end of its read */
  constructor(
    private readonly read: () => Promise<Value>,
    private readonly keptMs: number,
    private readonly clock: Clock,
  ) {}

  /** Rejects as the latest read did. */
  get(): Promise<Value> {
    if (this.latest !== undefined && this.clock.monotonic() < this.expiresAt) return this.latest;
    this.expiresAt = Infinity;
    this.latest = this.renew();
    return this.latest;
  }

  private async renew(): Promise<Value> {
    try {
      return await this.read();
    } finally {
      this.expiresAt = this.clock.monotonic() + this.keptMs;
    }
  }
}
