import type { RandomSource, Clock, LeafError } from '@leaf-ids/core';
import { rendezvousScore } from '@leaf-ids/core/internal';
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

  /** For a request that may be answered differently: the reason of a refusal was its size. */
  releaseAll(): void {
    this.backoffs.clear();
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

/**
 * Selects the server for the next request. It excludes servers in backoff and prefers healthy servers, then those of
 * the client's zone. If none is left, a server in backoff is asked again, at most once a second. Requests with a key go to
 * a preferred server by rendezvous hashing, which keeps the IDs ascending. Other requests go to the less busy of two
 * random servers.
 */
export class ServerChoice {
  private readonly seed: number;

  constructor(
    private readonly servers: readonly Server[],
    private readonly zone: string | undefined,
    private readonly random: RandomSource,
  ) {
    this.seed = random(2 ** 32);
  }

  /** @returns undefined when no server is left */
  next(policy: RequestPolicy, tried: ReadonlySet<Server>): Server | undefined {
    const untried = this.servers.filter((server) => !tried.has(server));
    const willing = ableOf(untried.filter((server) => policy.refusalOf(server) === undefined));
    const able = willing.length > 0 ? willing : ableOf(untried.filter((server) => policy.admitsInNeed(server)));
    const near = this.zone === undefined ? [] : able.filter(({ zone }) => zone === this.zone);
    const candidates = near.length > 0 ? near : able;
    return policy.key === undefined ? this.lessBusy(candidates) : this.preferred(candidates, policy.key);
  }

  private preferred(candidates: readonly Server[], key: string): Server | undefined {
    let best: Server | undefined;
    let highest = -1;
    for (const server of candidates) {
      const score = rendezvousScore(key, server.url, this.seed);
      if (score > highest) [best, highest] = [server, score];
    }
    return best;
  }

  private lessBusy(candidates: readonly Server[]): Server | undefined {
    const { length } = candidates;
    if (length < 2) return candidates[0];
    const index = this.random(length);
    const first = candidates[index];
    const second = candidates[(index + 1 + this.random(length - 1)) % length];
    return first !== undefined && second !== undefined && second.outstanding < first.outstanding ? second : first;
  }
}

/** The healthy servers; if there are none, those that may be tried all the same. */
function ableOf(servers: readonly Server[]): readonly Server[] {
  const healthy = servers.filter(({ health }) => health.admits);
  return healthy.length > 0 ? healthy : servers.filter(({ health }) => health.admitsInNeed);
}
