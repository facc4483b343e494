import type { Clock, LeafError } from '@leaf-ids/core';
import type { Server } from './server';

/** Backoff after a refusal without `Retry-After`; the same as most `Retry-After` values of a Leaf server. */
const BACKOFF_MS = 1000;

interface Backoff {
  readonly refusal: LeafError;
  readonly until: number;
}

/**
 * The backoff for one tag, or for snowflake IDs: a server that refused a request gets no further request for it until
 * its `Retry-After` has passed, and stays in use for everything else.
 */
export class RequestPolicy {
  private readonly backoffs = new Map<Server, Backoff>();

  constructor(
    /** Requests with a key stay with one server while it serves them; undefined: any server will do. */
    readonly key: string | undefined,
    private readonly clock: Clock,
  ) {}

  backOff(server: Server, refusal: LeafError): void {
    this.backoffs.set(server, { refusal, until: this.clock.monotonic() + (refusal.retryAfterMs ?? BACKOFF_MS) });
  }

  release(server: Server): void {
    this.backoffs.delete(server);
  }

  /** The refusal during the backoff of the server; undefined when it may get a request. */
  refusalOf(server: Server): LeafError | undefined {
    const backoff = this.backoffs.get(server);
    return backoff !== undefined && this.clock.monotonic() < backoff.until ? backoff.refusal : undefined;
  }
}
