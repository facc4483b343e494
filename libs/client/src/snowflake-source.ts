import type { LeafError } from '@leaf-ids/core';
import type { PrefetchView } from './prefetch/prefetch-buffer';

/** Source of snowflake IDs: prefetched from the servers, or issued by the client under a worker ID. */
export interface SnowflakeSource {
  /**
   * The next ID in decimal, without a request.
   *
   * @throws LeafError why there is none now
   */
  next(): string;

  /** As {@link next}. */
  nextBigint(): bigint;

  /** The next ID in decimal; undefined if {@link next} would wait or throw. */
  tryNext(): string | undefined;

  /**
   * The next `count` IDs in decimal, ascending. Waits up to the time limit of a call.
   *
   * @throws LeafError the refusal of the servers, or their last failure
   */
  take(count: number): Promise<string[]>;

  /** As {@link take}. */
  takeBigints(count: number): Promise<bigint[]>;

  /** Resolves when {@link next} has an ID. */
  fill(): Promise<void>;

  /** Rejects all further and waiting calls; returns the number of dropped IDs. */
  close(reason: LeafError): number;

  snapshot(): PrefetchView;
}
