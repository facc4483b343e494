import type { Clock, LeafError } from '@leaf-ids/core';
import type { Server } from './server';

/** Unless a refusal says otherwise; also what lies behind most `Retry-After`s of a Leaf server. */
const HOLD_MS = 1000;

interface Backoff {
  readonly refusal: LeafError;
  /** By the monotonic clock, as `until`. */
  readonly since: number;
  readonly until: number;
}

/**
 * Where the requests for one thing go, a tag or snowflake IDs: a server that has refused it with a reason is not asked
 * for it again before the time it named, and stays in use for everything else.
 */
export class RequestPolicy {
  private readonly backoffs = new Map<Server, Backoff>();

  constructor(
    /** Keys stay with one server as long as it serves; undefined: any server is as good. */
    readonly key: string | undefined,
    private readonly clock: Clock,
  ) {}

  backOff(server: Server, refusal: LeafError): void {
    const since = this.clock.monotonic();
    this.backoffs.set(server, { refusal, since, until: since + (refusal.retryAfterMs ?? HOLD_MS) });
  }

  release(server: Server): void {
    this.backoffs.delete(server);
  }

  /** Why the server is not to be asked now; undefined when it may be. */
  refusalOf(server: Server): LeafError | undefined {
    const hold = this.backoffs.get(server);
    return hold !== undefined && this.clock.monotonic() < hold.until ? hold.refusal : undefined;
  }

  /**
   * Whether a server that refused may be asked before its time when no other server is left. Its reason may be gone: a
   * clock that was set back by ten minutes is often set forward again within seconds.
   */
  admitsInNeed(server: Server): boolean {
    return this.clock.monotonic() >= (this.backoffs.get(server)?.since ?? -Infinity) + HOLD_MS;
  }
}
