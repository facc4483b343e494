import { type RandomSource, rendezvousScore } from '@leaf-ids/core';
import type { RequestPolicy } from './request-policy';
import type { Server } from './server';

/**
 * Which server is asked next: one that has not refused, if possible healthy and of the client's zone. If none is left, a
 * server that refused is asked again, at most once a second. A policy with a key has a favourite server, which keeps its
 * IDs ascending; any other takes the less busy of two servers picked at random.
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

  /** @returns undefined when there is none left to ask now */
  next(route: RequestPolicy, tried: ReadonlySet<Server>): Server | undefined {
    const untried = this.servers.filter((server) => !tried.has(server));
    const willing = ableOf(untried.filter((server) => route.refusalOf(server) === undefined));
    const able = willing.length > 0 ? willing : ableOf(untried.filter((server) => route.admitsInNeed(server)));
    const near = this.zone === undefined ? [] : able.filter(({ zone }) => zone === this.zone);
    const candidates = near.length > 0 ? near : able;
    return route.key === undefined ? this.lessBusy(candidates) : this.favourite(candidates, route.key);
  }

  private favourite(candidates: readonly Server[], key: string): Server | undefined {
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
