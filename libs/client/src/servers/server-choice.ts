import type { RandomSource } from '@leaf-ids/core';
import { rendezvousScore } from '@leaf-ids/core/internal';
import type { RequestPolicy } from './request-policy';
import type { Server } from './server';

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
