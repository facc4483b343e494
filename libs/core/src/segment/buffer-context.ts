import type { RandomSource } from '../random';
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
