import {
  type CeilingProposal,
  type Clock,
  LeafError,
  type LeaseHolder,
  type RandomSource,
  type WorkerClaim,
  type WorkerUsage,
} from '@leaf/core';
import { isFault, ZookeeperRegistry, type ZookeeperRegistryOptions } from '../zookeeper/zookeeper-registry';
import type { ZookeeperSession } from '../zookeeper/zookeeper-session';
import { type Candidate, candidates, isGivenUp, isKnown, shuffled } from './candidates';
import { type PoolRecord, recordOf } from './pool-record';
import { countUsed, usedUp } from './pool-use';
import { WorkerPool } from './worker-pool';

const LARGEST_POOL = 1024;
/** After so many lost races, a new look at what is left saves more races than it costs. */
const TRIES_PER_LOOK = 16;

interface Token {
  readonly holder: LeaseHolder;
  /** Of the node. */
  readonly version: number;
}

/**
 * Worker IDs from a pool, `/snowflake/<name>/recycle/workers/<n>`, which anybody may take once they are free. Free and
 * in use are states of one node that is never removed, changed by one compare-and-set: no crash loses a worker ID, and
 * the loser of a race takes another one. A node is made by whoever takes its worker ID first, in use and with its
 * ceiling from the beginning, so that there is no pool to be set up.
 *
 * A record in use that carries our lease ID is our own work: only its holder writes one, and whoever takes over, gives
 * back or reclaims changes the lease ID or the state.
 *
 * An acquisition of unknown outcome may leave a worker ID in use that nobody uses; its ceiling frees it.
 */
export class ZkRecycleRegistry extends ZookeeperRegistry {
  private readonly pool: WorkerPool;

  constructor(
    session: ZookeeperSession,
    options: ZookeeperRegistryOptions,
    clock: Clock,
    private readonly random: RandomSource,
  ) {
    super('zk_recycle', 'recycle/workers', session, options, clock);
    this.pool = new WorkerPool(session, this.root, Math.min(LARGEST_POOL, options.maxWorkerId + 1));
  }

  acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim> {
    return this.starting(async () => {
      await this.session.ensurePath(this.root);
      // Every worker that is lost was won by somebody else: this ends.
      for (;;) {
        const claim = (await this.takeUnused(holder, propose)) ?? (await this.takeUsed(holder, propose));
        if (claim === undefined) continue;
        this.directory.announce(holder, claim.workerId);
        return claim;
      }
    });
  }

  extend(claim: WorkerClaim, wanted: number): Promise<WorkerClaim> {
    return this.running(async () => {
      const { workerId } = claim;
      const { holder, version: claimed } = tokenOf(claim);
      let [version, ceiling] = [claimed, wanted];
      for (;;) {
        const written = await this.write(workerId, recordOf('inuse', holder, ceiling), version);
        if (written !== undefined) {
          this.directory.announce(holder, workerId);
          return { ...claim, ceiling, version: { holder, version: written } satisfies Token };
        }
        const found = await this.own(claim);
        if (found.record.state !== 'inuse') throw this.lost(claim, 'it was given back, or reclaimed as expired');
        // An extension of unknown outcome may have recorded more than is asked for now.
        [version, ceiling] = [found.version, Math.max(wanted, found.record.ceiling)];
      }
    });
  }

  release(claim: WorkerClaim, ceiling: number): Promise<void> {
    return this.running(async () => {
      const { holder, version: claimed } = tokenOf(claim);
      let version = claimed;
      for (;;) {
        if ((await this.write(claim.workerId, recordOf('notuse', holder, ceiling), version)) !== undefined) return;
        const found = await this.own(claim);
        if (found.record.state !== 'inuse') return;
        version = found.version;
      }
    });
  }

  /** Frees the workers whose holders have let their ceilings pass; the ceilings stay. */
  override maintain(): Promise<void> {
    return this.running(async () => {
      const now = this.clock.now();
      const entries = (await this.pool.read()).filter(isKnown);
      const expired = entries.filter((entry) => isGivenUp(entry, now));
      await Promise.all(
        expired.map(({ workerId, record, version }) => this.write(workerId, { ...record, state: 'notuse' }, version)),
      );
    });
  }

  override usage(): Promise<WorkerUsage> {
    return this.running(async () => {
      const entries = await this.pool.read();
      return { used: countUsed(entries, this.clock.now()), most: this.pool.size };
    });
  }

  private async takeUnused(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim | undefined> {
    let unused = await this.pool.unused();
    while (unused.length > 0) {
      for (const workerId of shuffled(unused, this.random).slice(0, TRIES_PER_LOOK)) {
        const claim = await this.make(workerId, holder, propose(0));
        if (claim !== undefined) return claim;
      }
      unused = await this.pool.unused();
    }
    return undefined;
  }

  private async make(workerId: number, holder: LeaseHolder, ceiling: number): Promise<WorkerClaim | undefined> {
    const data = JSON.stringify(recordOf('inuse', holder, ceiling));
    try {
      await this.session.create(this.pool.path(workerId), data, 'persistent');
    } catch (error) {
      if (isFault(error, 'node-exists')) return undefined;
      throw error;
    }
    return { workerId, previousCeiling: 0, ceiling, version: { holder, version: 0 } satisfies Token };
  }

  /** @throws LeafError `LEAF_WORKERS_USED_UP` when there is none to take */
  private async takeUsed(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim | undefined> {
    const entries = await this.pool.read();
    const found = candidates(entries, this.clock.now(), this.random);
    if (found.length === 0) throw usedUp(this.description, this.pool, entries);
    for (const { workerId, record, version } of found) {
      const ceiling = propose(record.ceiling);
      const written = await this.write(workerId, recordOf('inuse', holder, ceiling), version);
      if (written === undefined) continue;
      const token: Token = { holder, version: written };
      return { workerId, previousCeiling: record.ceiling, ceiling, version: token };
    }
    return undefined;
  }

  private write(workerId: number, record: PoolRecord, version: number): Promise<number | undefined> {
    return this.compareAndSet(this.pool.path(workerId), JSON.stringify(record), version);
  }

  /** The record as somebody has left it, if that was one with our lease ID. */
  private async own(claim: WorkerClaim): Promise<Candidate> {
    const found = await this.pool.find(claim.workerId);
    if (found !== undefined && isKnown(found) && found.record.leaseId === tokenOf(claim).holder.leaseId) return found;
    throw this.lost(claim, 'another server has taken it, or its node was removed');
  }

  private lost({ workerId }: WorkerClaim, why: string): LeafError {
    return new LeafError(
      'LEAF_LEASE_LOST',
      `Worker ${workerId} of ${this.description} is no longer ours: ${why}. Restart this server: it gets another worker ID.`,
    );
  }
}

function tokenOf(claim: WorkerClaim): Token {
  return claim.version as Token;
}
