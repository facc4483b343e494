import { reasonOf } from '@leaf-ids/core';
import { REPORT_EVERY } from './load-failures';

export interface LoadView {
  readonly loads: number;
  /** Tries that failed. */
  readonly failures: number;
  readonly lastLoadMs: number | undefined;
  /** Message of the newest failure, until a load succeeds. */
  readonly lastError: string | undefined;
}

/** How the loads of one buffer went. */
export class LoadRecord {
  loads = 0;
  failuresInRow = 0;
  lastError: unknown;
  private failures = 0;
  private lastLoadMs: number | undefined;

  /** The servers have answered. */
  answered(): void {
    this.failuresInRow = 0;
    this.lastError = undefined;
  }

  loaded(durationMs: number): void {
    this.loads++;
    this.lastLoadMs = durationMs;
  }

  /** @returns whether it is time to report it: the first of several in a row, and every so often */
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
