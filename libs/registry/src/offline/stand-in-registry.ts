import { join } from 'node:path';
import {
  type CeilingProposal,
  type Clock,
  formatInstance,
  LeafError,
  type LeaseHolder,
  messageOf,
  type Peer,
  reasonOf,
  type TimeSource,
  type WorkerClaim,
  WorkerRegistry,
  type WorkerUsage,
} from '@leaf/core';
import { type ExclusiveLock, lockDirectory } from '../local/exclusive-lock';
import { readStandIn, type StandIn, writeStandIn } from './stand-in-file';

/** An acquisition whose answer was lost is found out about by a second one. */
const ACQUIRE_ATTEMPTS = 2;

/** The one worker that a server holds. */
interface Holding {
  readonly holder: LeaseHolder;
  readonly lock: ExclusiveLock;
  readonly path: string;
  standIn: StandIn;
  /** Undefined until the registry has confirmed that the worker is ours. */
  claim: WorkerClaim | undefined;
}

/**
 * A registry whose records belong to one `ip:port` each, and a local file that stands in for it while it cannot be
 * reached: a server that has run before can start and go on without it.
 *
 * The file, `<directory>/<port>/workerID.properties`, is written and synced before a ceiling is used, and locked for the
 * life of the process. When the registry is back, it is asked whether its record is still as this server left it; if
 * somebody else has written meanwhile, the lease is lost.
 *
 * A server that has let its ceiling pass was suspended, and may have been replaced: it hears from the registry before it
 * goes on. What cannot be seen is another server of the same `ip:port`, on another host, while the registry is away: the
 * file rests on the assumption that there is none. Nothing but an unreachable registry makes the file stand in: a clock
 * that is behind, a lost lease, wrong credentials do not.
 */
export class StandInRegistry extends WorkerRegistry {
  private holding: Holding | undefined;
  private problem: string | undefined;

  /**
   * @param inner its claims have text as version
   * @param directory made when it is missing
   */
  constructor(
    private readonly inner: WorkerRegistry,
    private readonly directory: string,
    private readonly clock: Clock,
  ) {
    super();
  }

  get description(): string {
    return this.inner.description;
  }

  /** Why the file stands in; undefined while the registry is reached. */
  override get trouble(): string | undefined {
    return this.problem;
  }

  async acquire(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim> {
    const directory = join(this.directory, String(holder.port));
    const path = join(directory, 'workerID.properties');
    const lock = await this.lock(directory, holder);
    try {
      const found = await readStandIn(path, formatInstance(holder));
      const least = found?.ceiling ?? 0;
      const claim = await this.acquireInner(holder, (recorded) => propose(Math.max(recorded, least)));
      const standIn = claim === undefined ? this.offline(found, path, propose) : this.standInOf(claim, holder);
      const holding: Holding = { holder, lock, path, claim, standIn };
      await save(holding);
      this.holding = holding;
      const { workerId, ceiling } = standIn;
      const previousCeiling = Math.max(least, claim?.previousCeiling ?? 0);
      return { workerId, previousCeiling, ceiling, version: holder.leaseId };
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  async extend(claim: WorkerClaim, ceiling: number): Promise<WorkerClaim> {
    const holding = this.held(claim);
    try {
      holding.claim = await this.extendInner(holding, ceiling);
      holding.standIn = this.standInOf(holding.claim, holding.holder);
      this.problem = undefined;
    } catch (error) {
      // By now: the suspension may have come between the question and the answer.
      if (holding.standIn.ceiling < this.clock.now()) throw error;
      this.standInFor(error);
      holding.standIn = { ...holding.standIn, ceiling: Math.max(ceiling, holding.standIn.ceiling) };
    }
    await save(holding);
    return { ...claim, ceiling: holding.standIn.ceiling };
  }

  async release(claim: WorkerClaim, ceiling: number): Promise<void> {
    const holding = this.held(claim);
    this.holding = undefined;
    holding.standIn = { ...holding.standIn, ceiling };
    try {
      if (holding.claim !== undefined) {
        await this.inner.release(holding.claim, ceiling);
        holding.standIn = { ...holding.standIn, recorded: ceiling, released: true };
      }
    } finally {
      await save(holding).finally(() => holding.lock.release());
    }
  }

  override timeSources(): Promise<TimeSource[]> {
    return this.inner.timeSources();
  }

  override peers(): Promise<Peer[]> {
    return this.inner.peers();
  }

  override maintain(): Promise<void> {
    return this.inner.maintain();
  }

  override usage(): Promise<WorkerUsage | undefined> {
    return this.inner.usage();
  }

  override async close(): Promise<void> {
    this.holding?.lock.release();
    this.holding = undefined;
    await this.inner.close();
  }

  /** @returns undefined when the registry cannot be reached */
  private async acquireInner(holder: LeaseHolder, propose: CeilingProposal): Promise<WorkerClaim | undefined> {
    for (let attempt = 0; attempt < ACQUIRE_ATTEMPTS; attempt++) {
      try {
        const claim = await this.inner.acquire(holder, propose);
        this.problem = undefined;
        return claim;
      } catch (error) {
        this.standInFor(error);
      }
    }
    return undefined;
  }

  /** What the file has reserved before, and more. */
  private offline(found: StandIn | undefined, path: string, propose: CeilingProposal): StandIn {
    if (found?.registry === this.description) return { ...found, ceiling: propose(found.ceiling) };
    const missing =
      found === undefined ? 'There is no file' : `Of ${found.registry}, not of this registry, is the file`;
    throw new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `${this.problem ?? ''} ${missing} ${path} of an earlier run to start from. Make the registry reachable for the first start.`,
      { retryAfterMs: 1000 },
    );
  }

  private extendInner({ claim, standIn, holder }: Holding, ceiling: number): Promise<WorkerClaim> {
    if (claim !== undefined) return this.inner.extend(claim, ceiling);
    const { workerId, recorded, version } = standIn;
    if (!standIn.released) {
      return this.inner.extend({ workerId, previousCeiling: recorded, ceiling: recorded, version }, ceiling);
    }
    // Nobody has issued an ID since if the ceiling is still the one that the release left.
    return this.inner.acquire(holder, (found) => {
      if (found === recorded) return Math.max(ceiling, recorded + 1);
      throw new LeafError(
        'LEAF_LEASE_LOST',
        `Worker ${workerId} of ${this.description} was used by another server of ${formatInstance(holder)} while this one went on from its file. Give every server an address and port of its own, and restart this one.`,
      );
    });
  }

  /** @throws the error itself, unless it is that the registry cannot be reached */
  private standInFor(error: unknown): void {
    if (!(error instanceof LeafError) || error.code !== 'LEAF_REGISTRY_UNREACHABLE') throw error;
    this.problem = reasonOf(error);
  }

  private async lock(directory: string, holder: LeaseHolder): Promise<ExclusiveLock> {
    const lock = await lockDirectory(directory, formatInstance(holder));
    if (lock !== undefined) return lock;
    throw new LeafError(
      'LEAF_WORKER_HELD',
      `Another process on this host is ${formatInstance(holder)}: it holds ${directory}. Stop it, or give this one a port of its own in LEAF_ADVERTISE_PORT.`,
    );
  }

  private standInOf({ workerId, ceiling, version }: WorkerClaim, holder: LeaseHolder): StandIn {
    const instance = formatInstance(holder);
    const registry = this.description;
    return { registry, instance, workerId, ceiling, recorded: ceiling, version: String(version), released: false };
  }

  private held(claim: WorkerClaim): Holding {
    const { holding } = this;
    if (holding !== undefined && holding.holder.leaseId === claim.version) return holding;
    throw new LeafError('LEAF_LEASE_LOST', `Worker ${claim.workerId} of ${this.description} was given back.`);
  }
}

async function save({ path, standIn }: Holding): Promise<void> {
  try {
    await writeStandIn(path, standIn);
  } catch (error) {
    throw new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `The worker file ${path} cannot be written: ${messageOf(error)}. Make room on the disk, or the directory writable, or do without the file by LEAF_SNOWFLAKE_OFFLINE=refuse; it goes on by itself.`,
      { cause: error, retryAfterMs: 1000 },
    );
  }
}
