import { LeafError } from '../errors/leaf-error';
import { assertOptions } from '../options';
import type { ClaimContext } from './claim-context';
import { checkClock, type ClockCheck } from './clock-check';
import { startFromFile } from './file-start';
import { formatInstance } from './instance';
import type { LeaseHolder, Wait } from './lease-holder';
import { RegistryMemory } from './registry-memory';
import { type WorkerRegistryOptions, type WorkerRegistryParts, workerRegistryRule } from './registry-options';
import { type AcquisitionContext, WorkerAcquisition } from './worker-acquisition';
import type { WorkerClaim } from './worker-claim';
import { importWorker } from './worker-import';
import type { WorkerUsage } from './worker-policy';
import type { Peer, StoredWorker } from './worker-store';

/** Assumed maximum offset between clocks that are not compared, in milliseconds. */
const DEFAULT_CLOCK_OFFSET_MS = 5000;
/** Time limit for a time request to another server, in milliseconds. */
const PEER_LIMIT_MS = 1000;
/** A second acquisition finds the record of a first one whose reply was lost. */
const TRIES_BEFORE_FILE = 2;

/** One strategy: a policy and a store. Assigns worker IDs under rules R1 to R10 of docs/architecture.md. */
export class WorkerRegistry {
  readonly description: string;
  /** The latest comparison of clocks; undefined before the first. */
  clockCheck: ClockCheck | undefined;

  private readonly claims: ClaimContext;
  /** The version of each record in use, and when it was first read, in monotonic milliseconds. */
  private readonly unchanged = new Map<number, { readonly version: string; readonly at: number }>();
  private lookedAt = -Infinity;
  private lastUsage: WorkerUsage | undefined;

  constructor(
    private readonly parts: WorkerRegistryParts,
    readonly options: WorkerRegistryOptions,
  ) {
    const { store, policy, file, clock, newId } = parts;
    const { name, layout, remembers } = options;
    assertOptions(`the worker registry ${name}`, workerRegistryRule, options);
    const maxClockOffsetMs = options.maxClockOffsetMs || DEFAULT_CLOCK_OFFSET_MS;
    this.description = `${name} (${store.description})`;
    const graceMs = remembers ? 0 : policy.graceMs({ ...options, maxClockOffsetMs });
    const memory = new RegistryMemory(store, clock, { strategy: name, layout, graceMs, maxClockOffsetMs, newId });
    const { description } = this;
    const { exclusive } = policy;
    const compareClock = (holder: LeaseHolder): Promise<boolean> => this.compareClock(holder);
    this.claims = {
      ...{ description, layout, store, memory, file, clock },
      ...{ maxClockOffsetMs, exclusive, compareClock },
    };
  }

  /**
   * Acquires a worker ID. Waits as long as necessary: for the floor, for the grace period of a new registry, and to
   * detect a running server with the same address.
   *
   * @throws LeafError `LEAF_CLOCK_OFFSET`, `LEAF_CLOCK_BEHIND`, `LEAF_LAYOUT_MISMATCH`, `LEAF_REGISTRY_MISMATCH`,
   *   `LEAF_WORKER_HELD`, `LEAF_WORKERS_USED_UP`, `LEAF_REGISTRY_UNREACHABLE`, or the errors of the store
   */
  async acquire(holder: LeaseHolder, wait: Wait): Promise<WorkerClaim> {
    const { parts, options, claims } = this;
    const context = { parts, options, claims, holder, wait, found: await parts.file?.open(holder.instance) };
    for (let attempt = 1; ; attempt++) {
      try {
        const clockCompared = await this.compareClock(holder);
        return await new WorkerAcquisition({ ...context, clockCompared }).run();
      } catch (error) {
        if (!isUnreachable(error) || parts.file === undefined) throw error;
        if (attempt === TRIES_BEFORE_FILE) return this.startWithout({ ...context, clockCompared: false }, error);
      }
    }
  }

  /**
   * Frees records that have not changed for a horizon, by our monotonic clock, and counts the worker IDs in use. Safe
   * if several servers run it concurrently, or one is suspended. Reads all records at most four times per horizon.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`
   */
  async maintain(): Promise<void> {
    const { store, policy, clock } = this.parts;
    const now = clock.monotonic();
    if (now < this.lookedAt + this.options.horizonMs / 4) return;
    const records = await store.list();
    this.lookedAt = now;
    this.lastUsage = policy.usage(records, this.options.maxWorkerId, clock.now());
    if (policy.exclusive) return;
    const abandoned = records.filter((stored) => this.isAbandoned(stored, now));
    await Promise.all(abandoned.map((stored) => store.replace(stored, { ...stored.record, free: true })));
  }

  /** The worker IDs in use, as last counted. */
  get usage(): WorkerUsage | undefined {
    return this.lastUsage;
  }

  peers(): Promise<Peer[]> {
    return this.parts.store.peers(this.parts.clock.now());
  }

  /** Rejects an acquisition that waits for the store to answer. Only {@link close} may follow. */
  abort(): Promise<void> {
    return this.parts.store.abort();
  }

  async close(): Promise<void> {
    this.parts.file?.close();
    await this.parts.store.close();
  }

  /**
   * Imports a worker ID only at the first start, and only if the registry has not answered: what it knows may contradict
   * the imported file.
   *
   * @param error why the registry cannot be reached
   */
  private startWithout(context: AcquisitionContext, error: LeafError): Promise<WorkerClaim> {
    const { importFile } = this.parts;
    const imports = importFile !== undefined && context.found === undefined && !this.claims.memory.hasAnswered;
    return imports ? importWorker(context, importFile, error) : startFromFile(context, error);
  }

  /** Runs before a worker ID is acquired, so that a wrong clock does not reserve time. */
  private async compareClock({ instance }: LeaseHolder): Promise<boolean> {
    const { store, clock } = this.parts;
    const { maxClockOffsetMs: maxOffsetMs } = this.options;
    if (maxOffsetMs === 0) return false;
    const own = formatInstance(instance);
    const sources = (await store.timeSources()).filter(({ name }) => name !== own);
    this.clockCheck = await checkClock(sources, clock, { maxOffsetMs, limitMs: PEER_LIMIT_MS });
    return this.clockCheck.answered > 0 || sources.length === 0;
  }

  /** R10: uses our monotonic clock, never a wall clock. */
  private isAbandoned({ workerId, version, record }: StoredWorker, now: number): boolean {
    const seen = this.unchanged.get(workerId);
    if (seen?.version !== version) {
      this.unchanged.set(workerId, { version, at: now });
      return false;
    }
    return !record.free && now - seen.at >= this.options.horizonMs;
  }
}

function isUnreachable(error: unknown): error is LeafError {
  return error instanceof LeafError && error.code === 'LEAF_REGISTRY_UNREACHABLE';
}
