import type { Clock, LeafError } from '@leaf-ids/core';

/** A response with a status of 500 or above. */
export interface ServerFailure {
  /** Unix milliseconds. */
  readonly at: number;
  readonly code: string;
  readonly message: string;
}

/** The latest failed response of this process, except for refusals because of overload. */
export class LastFailure {
  latest: ServerFailure | undefined;

  constructor(private readonly clock: Clock) {}

  /** Keeps the error if it is a failure of the server. */
  note({ status, code, message }: LeafError): void {
    if (status >= 500 && code !== 'LEAF_OVERLOADED') this.latest = { at: this.clock.now(), code, message };
  }
}
