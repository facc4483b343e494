import type { IdRange } from './id-range';

/** A call that takes all that is buffered and waits for exactly what is missing. */
export interface ExactOrder {
  readonly pieces: readonly IdRange[];
  /** Ends the waits between tries. */
  readonly stop: AbortController;
  abandoned: boolean;
  done: boolean;
}
