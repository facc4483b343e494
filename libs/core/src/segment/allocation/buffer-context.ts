import type { RandomSource } from '../../util/random';
import type { Clock } from '../../clock/clock';
import type { RangeSourceContext } from './range-source';
import type { SegmentOptions } from './segment-options';
import type { UsedSources } from './tag-source';

/** Maximum number of concurrently retried loads without a waiting call, over all tags. */
const MOST = 32;
/** How long a load without a waiting call is retried, in milliseconds. */
const LIMIT_MS = 10_000;

/** Limits retries of loads without waiting calls, so that an outage does not cause a flood of retries. */
export class IdleRetries {
  private readonly since = new Map<object, number>();

  constructor(private readonly clock: Clock) {}

  /** Whether `load` may be retried. An admitted load occupies a slot until {@link end}. */
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

/** Shared by all buffers of one generator. */
export interface BufferContext extends RangeSourceContext {
  readonly random: RandomSource;
  readonly options: SegmentOptions;
  readonly idleRetries: IdleRetries;
  readonly used: UsedSources;
  /** Aborts back-off waits when the generator closes. */
  readonly closing: AbortSignal;
}

/** Number of rows with an invalid name that are reported. */
export const MAX_UNSERVED = 20;

export interface SegmentEvents {
  /** Loads of a tag are failing. */
  readonly onLoadFailed: (tag: string, error: unknown) => void;
  readonly onRefreshFailed: (error: unknown) => void;
  /** A row is not served, because its name is not a valid tag; once for each of the first {@link MAX_UNSERVED}. */
  readonly onUnserved?: (name: string) => void;
}
