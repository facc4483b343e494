import { isLeafError, LeafError } from '../../errors/leaf-error';
import { assertOptions } from '../../util/options';
import { type ClaimContext, recordContested } from '../registry/worker-errors';
import { checkClock, type ClockCheck } from '../registry/clock-check';
import { startFromFile } from './file-start';
import { formatInstance } from '../records/instance';
import type { LeaseHolder, Wait } from '../records/lease-holder';
import type { RegistryDocument, WorkerUsage } from '../records/registry-document';
import { RegistryMaintenance } from '../registry/registry-maintenance';
import { isSameHistory, RegistryMemory } from '../registry/registry-memory';
import {
  LEASE_LIMITS,
  type WorkerRegistryOptions,
  type WorkerRegistryParts,
  workerRegistryRule,
  workersOf,
} from '../registry/registry-options';
import { WorkerAcquisition } from './worker-acquisition';
import { WorkerClaim } from './worker-claim';
import type { WorkerRange } from '../records/worker-range';
import type { Room } from '../registry/worker-policy';
import type { Peer, StoredWorker } from '../records/worker-store';

/** Time limit for a time request to another server, in milliseconds. */
const PEER_LIMIT_MS = 1000;
/** A second acquisition finds the record of a first one whose reply was lost. */
const TRIES_BEFORE_FILE = 2;
/** Others may write a record at the same time; a record that nobody can read cannot be replaced. */
const RESERVE_ATTEMPTS = 10;
/** How long the comparison of clocks for one worker window serves for the next ones, in milliseconds. */
const COMPARED_MS = 10_000;
/** A step of the wall clock after which the clocks are compared again, in milliseconds. */
const CLOCK_STEP_MS = 100;

/** A comparison of clocks, and when it was made. */
interface ComparedClock {
  /** Whether our clock was compared and is correct. */
  readonly clockCompared: boolean;
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Offset of the wall clock from the monotonic clock, in milliseconds. */
  readonly lead: number;
}

/** One strategy: a policy and a store. Assigns worker IDs under rules R1 to R13 of docs/architecture.md. */
export class WorkerRegistry {
  readonly description: string;
  /** The latest comparison of clocks; undefined before the first. */
  clockCheck: ClockCheck | undefined;

  private readonly claims: ClaimContext;
  private readonly maintenance: RegistryMaintenance;
  private compared: ComparedClock | undefined;

  constructor(
    private readonly parts: WorkerRegistryParts,
    readonly options: WorkerRegistryOptions,
  ) {
    const { store, policy, file, clock, newId } = parts;
    const { name, layout, remembers, leaseTtlMs, limits = LEASE_LIMITS } = options;
    assertOptions(`the worker registry ${name}`, workerRegistryRule, options);
    const { clockOffsetMs } = limits;
    this.description = `${name} (${store.description})`;
    const graceMs = (longest: number): number => (remembers ? 0 : policy.graceMs({ ...limits, leaseTtlMs: longest }));
    const memory = new RegistryMemory(store, clock, {
      ...{ strategy: name, layout, leaseTtlMs, continues: file !== undefined, graceMs, clockOffsetMs, newId },
    });
    this.maintenance = new RegistryMaintenance(parts, options);
    const { description } = this;
    const { exclusive } = policy;
    const compareClock = (holder: LeaseHolder): Promise<unknown> => this.compareClock(holder);
    this.claims = {
      ...{ description, layout, store, memory, file, clock },
      ...{ clockOffsetMs, exclusive, compareClock },
    };
  }

  /**
   * Acquires a worker ID. Waits as long as necessary: for the floor, for the grace period of a new registry, and to
   * detect a running server with the same address.
   *
   * @param leaseTtlMs how far ahead of the clock to reserve time, in milliseconds
   * @param room without it, every free worker ID of a pool may be taken
   * @throws LeafError `LEAF_CLOCK_OFFSET`, `LEAF_CLOCK_BEHIND`, `LEAF_LAYOUT_MISMATCH`, `LEAF_REGISTRY_MISMATCH`,
   *   `LEAF_WORKER_HELD`, `LEAF_WORKERS_USED_UP`, `LEAF_REGISTRY_UNREACHABLE`, or the errors of the store
   */
  async acquire(
    holder: LeaseHolder,
    wait: Wait,
    leaseTtlMs = this.options.leaseTtlMs,
    room?: Room,
  ): Promise<WorkerClaim> {
    const { parts, claims } = this;
    const options = { ...this.options, leaseTtlMs };
    const context = { parts, options, claims, holder, wait, room, found: await parts.file?.open(holder.instance) };
    let failures = 0;
    for (;;) {
      try {
        return await new WorkerAcquisition({ ...context, ...(await this.compareClock(holder)) }).run();
      } catch (error) {
        if (!isLeafError(error, 'LEAF_REGISTRY_UNREACHABLE') || parts.file === undefined) throw error;
        if (++failures < TRIES_BEFORE_FILE) continue;
        const claim = await startFromFile({ ...context, clockCompared: false, lead: 0 }, error);
        if (claim !== undefined) return claim;
      }
    }
  }

  /** Whether any caller may take any free worker ID, so that it can be handed out in windows. */
  get isPool(): boolean {
    return !this.parts.policy.exclusive;
  }

  /** The worker IDs that this server may take and hand out. */
  get workers(): WorkerRange {
    return workersOf(this.options);
  }

  /** Those of {@link workers} that the policy ever takes: a pool has a largest size. */
  get usableWorkers(): WorkerRange {
    return this.parts.policy.usable(this.workers);
  }

  /** All records. @throws LeafError `LEAF_REGISTRY_UNREACHABLE` */
  records(): Promise<StoredWorker[]> {
    return this.parts.store.list();
  }

  /** The current history, which starts now if there is none. @throws LeafError as {@link RegistryMemory.open} */
  async history(): Promise<RegistryDocument> {
    return (await this.claims.memory.open()).document;
  }

  /**
   * The claim of a record that this or another server has written for `holder`. If the registry may have lost that
   * another holder has replaced it since, the claim must first be registered again (R5).
   *
   * @throws LeafError as {@link history}
   */
  async resume(holder: LeaseHolder, stored: StoredWorker, floor: number): Promise<WorkerClaim> {
    const { workerId, record } = stored;
    // Read after the record: a loss of history between the two reads then counts as one before them.
    const { document } = await this.claims.memory.open();
    holder.attempted = Math.max(holder.attempted, record.write);
    const { ceiling } = record;
    const start = { workerId, floor, ceiling, before: undefined };
    // A record whose ceiling had not passed when the generation began cannot have been replaced.
    const isCurrent = document.floor !== undefined && ceiling > document.floor;
    const { id, generation } = document;
    return new WorkerClaim(this.claims, holder, {
      ...start,
      ...(isCurrent
        ? { registry: document, stored }
        : { registry: { id, generation: generation - 1 }, stored: undefined }),
    });
  }

  /**
   * Whether a worker ID with this floor was acquired in the current history.
   *
   * @throws LeafError as {@link history}
   */
  async isOfThisHistory(floor: number): Promise<boolean> {
    const { document } = await this.claims.memory.open();
    return document.floor !== undefined && floor >= document.floor;
  }

  /** See {@link RegistryMemory.holdOpen}. @throws LeafError as {@link history} */
  holdGraceOpen(): Promise<void> {
    return this.claims.memory.holdOpen();
  }

  /**
   * Registers windows again after the registry has lost its history (R5), with few requests. Those whose records differ
   * from what this server knows stay as they are: {@link WorkerClaim.extend} decides about each.
   *
   * @throws LeafError as {@link history}
   */
  async registerAgain(windows: readonly WorkerClaim[]): Promise<void> {
    const { memory, store } = this.claims;
    const before = await memory.open();
    const present = new Set((await store.list()).map(({ workerId }) => workerId));
    const missing = windows.filter(({ workerId }) => !present.has(workerId));
    await store.createAll(
      before.stored,
      missing.flatMap(({ registration }) => registration ?? []),
    );
    const records = new Map((await store.list()).map((stored) => [stored.workerId, stored]));
    // Read after the records: they belong to the history of both reads.
    const { document } = await memory.open();
    if (!isSameHistory(before.document, document)) return;
    for (const claim of windows) {
      const stored = records.get(claim.workerId);
      if (stored !== undefined) claim.adopt(stored, document);
    }
  }

  /** @throws LeafError `LEAF_NOT_READY` while holders may still register again after a loss of history (R5) */
  async assertSettled(): Promise<void> {
    const { document } = await this.claims.memory.open();
    if (document.floor !== undefined) return;
    throw new LeafError(
      'LEAF_NOT_READY',
      `${this.description} is new or may have lost writes, and worker IDs are being registered again. Retry.`,
      { retryAfterMs: this.options.reportMs },
    );
  }

  /**
   * Reserves a worker ID up to `ceiling`, whoever has it: the next holder issues only above it. A holder that may not
   * register again, because its ceiling has passed, loses it.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`
   */
  async reserve(workerId: number, ceiling: number, holder: LeaseHolder): Promise<void> {
    const { store, clock } = this.parts;
    const { memory, clockOffsetMs } = this.claims;
    for (let attempt = 0; attempt < RESERVE_ATTEMPTS; attempt++) {
      const found = (await this.records()).find((one) => one.workerId === workerId);
      if (found === undefined) {
        const { stored } = await memory.open();
        if ((await store.create(stored, holder.record(ceiling, true), workerId)) !== undefined) return;
        continue;
      }
      const { record } = found;
      if (record.ceiling >= ceiling) return;
      const free = record.free || clock.now() > record.ceiling - clockOffsetMs;
      if ((await store.replace(found, { ...record, write: record.write + 1, ceiling, free })) !== undefined) return;
    }
    throw recordContested(workerId, this.description, `could not be reserved in ${RESERVE_ATTEMPTS} attempts`);
  }

  /**
   * Frees a record whose holder used no timestamp above `ceiling`, unless it has changed since it was read.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`
   */
  async withdraw(stored: StoredWorker, ceiling: number): Promise<void> {
    const { record } = stored;
    await this.parts.store.replace(stored, { ...record, write: record.write + 1, ceiling, free: true });
  }

  /** See {@link RegistryMaintenance.run}. */
  maintain(everyMs?: number): Promise<void> {
    return this.maintenance.run(everyMs);
  }

  /** The worker IDs in use, as last counted by this or another server. */
  get usage(): WorkerUsage | undefined {
    return this.maintenance.usage;
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

  /** Runs before a worker ID is acquired, so that a wrong clock does not reserve time. */
  private async compareClock({ server, shared }: LeaseHolder): Promise<ComparedClock> {
    const { clock } = this.parts;
    const { compared } = this;
    const lead = clock.now() - clock.monotonic();
    const isRecent = compared !== undefined && clock.monotonic() - compared.at < COMPARED_MS;
    if (shared && isRecent && Math.abs(lead - compared.lead) < CLOCK_STEP_MS) return compared;
    const clockCompared = await this.isClockCorrect(formatInstance(server));
    this.compared = { clockCompared, at: clock.monotonic(), lead: clock.now() - clock.monotonic() };
    return this.compared;
  }

  private async isClockCorrect(own: string): Promise<boolean> {
    const { store, clock } = this.parts;
    const { maxClockOffsetMs: maxOffsetMs } = this.options;
    if (maxOffsetMs === 0) return false;
    const sources = (await store.timeSources()).filter(({ name }) => name !== own);
    this.clockCheck = await checkClock(sources, clock, { maxOffsetMs, limitMs: PEER_LIMIT_MS });
    return this.clockCheck.answered > 0 || sources.length === 0;
  }
}
