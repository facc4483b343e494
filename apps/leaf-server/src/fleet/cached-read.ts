import type { Clock } from '@leaf-ids/core';

/** How long a value is kept, in milliseconds. */
const KEPT_MS = 1000;

/** A value that is expensive to read: read at most once a second, and by one call for all callers. */
export class CachedRead<Value> {
  private latest: Promise<Value> | undefined;
  /** Monotonic milliseconds; infinite while a read is in progress. */
  private freshUntil = -Infinity;

  constructor(
    private readonly read: () => Promise<Value>,
    private readonly clock: Clock,
  ) {}

  /** Rejects as the latest read did. */
  get(): Promise<Value> {
    if (this.latest !== undefined && this.clock.monotonic() < this.freshUntil) return this.latest;
    this.freshUntil = Infinity;
    this.latest = this.read().finally(() => (this.freshUntil = this.clock.monotonic() + KEPT_MS));
    return this.latest;
  }
}
