import type { RandomSource } from '../random';
import type { IdleRetries } from './idle-retries';
import type { RangeSourceContext } from './range-source';
import type { SegmentOptions } from './segment-options';

/** What the buffers of one generator share. */
export interface BufferContext extends RangeSourceContext {
  readonly random: RandomSource;
  readonly options: SegmentOptions;
  readonly idleRetries: IdleRetries;
  /** Aborts the waits between tries when the generator closes. */
  readonly closing: AbortSignal;
}
