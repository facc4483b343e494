import { reasonOf } from '@leaf-ids/core/internal';
import { REPORT_EVERY } from './load-failures';

export interface LoadView {
  readonly loads: number;
  /** Attempts that failed. */
  readonly failures: number;
  readonly lastLoadMs: number | undefined;
  /** Message of the newest failure, until a load succeeds. */
  readonly lastError: string | undefined;
}

/** Statistics of the loads of one buffer. */
export class LoadRecord {
  loads = 0;
  failuresInRow = 0;
  lastError: unknown;
  private failures = 0;
  private lastLoadMs: number | undefined;

  /** The servers have responded. */
  answered(): void {
    this.failuresInRow = 0;
    this.lastError = undefined;
  }

  loaded(durationMs: number): void {
    this.loads++;
    this.lastLoadMs = durationMs;
  }

  /** @returns whether to report the failure: the first of a series, and every {@link REPORT_EVERY}th */
  failed(error: unknown): boolean {
    this.failures++;
    this.lastError = error;
    return this.failuresInRow++ % REPORT_EVERY === 0;
  }

  get view(): LoadView {
    const { loads, failures, lastLoadMs, lastError } = this;
    return { loads, failures, lastLoadMs, lastError: lastError === undefined ? undefined : reasonOf(lastError) };
  }
}
