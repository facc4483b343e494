import type { RandomSource } from '../../util/random';
import type { IdleRetries } from './idle-retries';
import type { RangeSourceContext } from './range-source';
import type { SegmentOptions } from './segment-options';
import type { UsedSources } from './used-sources';

/** Shared by all buffers of one generator. */
export interface BufferContext extends RangeSourceContext {
  readonly random: RandomSource;
  readonly options: SegmentOptions;
  readonly idleRetries: IdleRetries;
  readonly used: UsedSources;
  /** Aborts back-off waits when the generator closes. */
  readonly closing: AbortSignal;
}

export interface SegmentEvents {
  /** Loads of a tag are failing. */
  readonly onLoadFailed: (tag: string, error: unknown) => void;
  readonly onRefreshFailed: (error: unknown) => void;
}
