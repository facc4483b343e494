import type { Clock, LeafError } from '@leaf-ids/core';
import type { Server } from './server';

/** Backoff after a refusal without `Retry-After`; the same as most `Retry-After` values of a Leaf server. */
const BACKOFF_MS = 1000;

interface Backoff {
  readonly refusal: LeafError;
  /** Start by the monotonic clock, like `until`. */
  readonly since: number;
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
    const since = this.clock.monotonic();
    this.backoffs.set(server, { refusal, since, until: since + (refusal.retryAfterMs ?? BACKOFF_MS) });
  }

  release(server: Server): void {
    this.backoffs.delete(server);
  }

  /** The refusal during the backoff of the server; undefined when it may get a request. */
  refusalOf(server: Server): LeafError | undefined {
    const backoff = this.backoffs.get(server);
    return backoff !== undefined && this.clock.monotonic() < backoff.until ? backoff.refusal : undefined;
  }

  /**
   * Whether a server that refused may be asked before its time when no other server is left. Its reason may be gone: a
   * clock that was set back by ten minutes is often set forward again within seconds.
   */
  admitsInNeed(server: Server): boolean {
    return this.clock.monotonic() >= (this.backoffs.get(server)?.since ?? -Infinity) + BACKOFF_MS;
  }
}
