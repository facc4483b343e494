import { LeafError, type LeafErrorCode } from '@leaf-ids/core';

/** The current state of a promise, which counts as handled. */
export interface Watched<T> {
  readonly settled: boolean;
  readonly value: T | undefined;
  readonly error: unknown;
  /** Code of the `LeafError` it was rejected with. */
  readonly code: LeafErrorCode | undefined;
}

export function watch<T>(promise: Promise<T>): Watched<T> {
  let settled = false;
  let value: T | undefined;
  let error: unknown;
  void promise.then(
    (result) => {
      settled = true;
      value = result;
    },
    (reason: unknown) => {
      settled = true;
      error = reason;
    },
  );
  return {
    get settled() {
      return settled;
    },
    get value() {
      return value;
    },
    get error() {
      return error;
    },
    get code() {
      return error instanceof LeafError ? error.code : undefined;
    },
  };
}
