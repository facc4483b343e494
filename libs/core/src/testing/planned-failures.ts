import { ERROR_CATALOGUE, type LeafErrorCode } from '../errors/error-catalogue';
import { LeafError } from '../errors/leaf-error';

type Mode = 'segment' | 'snowflake';

/** The calls that fail. */
export interface FailureScope {
  /** Only calls for segment IDs, or only those for snowflake IDs; both by default. */
  readonly mode?: Mode;
  /** Only calls for this tag, which are calls for segment IDs; by default, for all tags. */
  readonly tag?: string;
  /** Number of calls that fail; by default all of them, until `recover()` or `reset()`. */
  readonly times?: number;
}

interface Failure extends Omit<FailureScope, 'times'> {
  readonly error: LeafError;
  /** Number of calls that are still to fail. */
  left: number;
}

/** The failures that a test has planned. The oldest one of a call is used first. */
export class PlannedFailures {
  private failures: Failure[] = [];

  add(error: LeafError | LeafErrorCode, { times = Infinity, ...scope }: FailureScope): void {
    this.failures.push({ ...scope, error: typeof error === 'string' ? errorOf(error) : error, left: times });
  }

  clear(): void {
    this.failures = [];
  }

  isNext(mode: Mode, tag?: string): boolean {
    return this.find(mode, tag) !== undefined;
  }

  /** @throws LeafError the planned one, if there is one */
  throwNext(mode: Mode, tag?: string): void {
    const failure = this.find(mode, tag);
    if (failure === undefined) return;
    failure.left--;
    throw failure.error;
  }

  private find(mode: Mode, tag: string | undefined): Failure | undefined {
    return this.failures.find(
      (failure) =>
        failure.left > 0 &&
        (failure.mode === undefined || failure.mode === mode) &&
        (failure.tag === undefined || failure.tag === tag),
    );
  }
}

function errorOf(code: LeafErrorCode): LeafError {
  const isRetryable = new LeafError(code, '').retryable;
  return new LeafError(code, `${ERROR_CATALOGUE[code].title}.`, isRetryable ? { retryAfterMs: 1000 } : {});
}
