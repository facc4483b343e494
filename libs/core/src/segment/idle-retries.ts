import type { Clock } from '../clock/clock';

/** Loads that are tried again at the same time while no call waits for them, of all tags. */
const MOST = 32;
/** A load is tried again this long while no call waits for it, in milliseconds. */
const LIMIT_MS = 10_000;

/** Bounds the retries for tags that no call waits for: an outage must not become a load of its own. */
export class IdleRetries {
  private readonly since = new Map<object, number>();

  constructor(private readonly clock: Clock) {}

  /** Whether `load` may be tried again. Once it may, it counts until {@link end}. */
  admits(load: object): boolean {
    const now = this.clock.monotonic();
    const since = this.since.get(load);
    if (since !== undefined) return now - since < LIMIT_MS;
    if (this.since.size >= MOST) return false;
    this.since.set(load, now);
    return true;
  }

  end(load: object): void {
    this.since.delete(load);
  }
}
