import { LeafError } from '../errors/leaf-error';
import type { ClaimContext } from './claim-context';
import { formatInstance } from './instance';
import type { LeaseHolder, Wait } from './lease-holder';
import { isAnswerOf, isSameHistory, type OpenRegistry } from './registry-memory';
import type { WorkerRegistryOptions, WorkerRegistryParts } from './registry-options';
import { WorkerClaim } from './worker-claim';
import { attemptsOf, type FileRecord, withAttempt } from './worker-file';
import type { Choice } from './worker-policy';
import type { StoredRegistry, StoredWorker } from './worker-store';

/** What an acquisition is made from. */
export interface AcquisitionContext {
  readonly parts: WorkerRegistryParts;
  readonly options: WorkerRegistryOptions;
  readonly claims: ClaimContext;
  readonly holder: LeaseHolder;
  readonly wait: Wait;
  /** The file as it was found; undefined when there is none. */
  readonly found: FileRecord | undefined;
  /** Whether our clock was compared with others, and is right. */
  readonly clockCompared: boolean;
}

/** Time between two checks whether a wait has ended, in milliseconds. */
const POLL_MS = 500;
/** Longer than the Java service takes from one report to the next, in milliseconds. */
const FOREIGN_WATCH_MS = 4000;
/** A round fails only when other servers take every candidate first. */
const ROUNDS = 200;

/** One try to get a worker ID from the store, under rules R2, R3, R5 and R8. */
export class WorkerAcquisition {
  private fileRecord: FileRecord | undefined;
  /** How far the wall clock was ahead of the monotonic clock when it was compared with others. */
  private readonly lead: number;

  /** Begin it right after the comparison of clocks. */
  constructor(private readonly context: AcquisitionContext) {
    const { clock } = context.parts;
    this.fileRecord = context.found;
    this.lead = clock.now() - clock.monotonic();
  }

  async run(): Promise<WorkerClaim> {
    const { claims, holder, parts } = this.context;
    for (let round = 0; round < ROUNDS; round++) {
      const registry = await this.settled();
      for await (const choice of this.choices()) {
        const claim = await this.attempt(choice, registry);
        if (claim === undefined) continue;
        await claim.save();
        holder.disproved = false;
        parts.store.announce(holder.instance, claim.workerId);
        return claim;
      }
    }
    throw new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `Other servers took every free record of ${claims.description} first, ${ROUNDS} times in a row. This server tries again by itself.`,
      { retryAfterMs: 1000 },
    );
  }

  /** Waits until every holder has had the time to register again (R5). */
  private async settled(): Promise<OpenRegistry> {
    const { claims, holder, wait } = this.context;
    for (;;) {
      const registry = await claims.memory.open((answer) => this.compareFile(answer));
      if (registry.document.floor !== undefined) return registry;
      const left = await claims.memory.settle(registry, () => claims.compareClock(holder));
      // The wait may end early: another server may have watched longer.
      if (left > 0) await wait(Math.min(left, POLL_MS), this.young(left));
    }
  }

  private async compareFile(answer: StoredRegistry): Promise<void> {
    const { fileRecord } = this;
    if (fileRecord?.registry !== this.context.claims.description) return;
    const { registryId: id, generation, origin, began } = fileRecord;
    if (!isAnswerOf({ id, generation, origin, began }, answer)) await this.disprove();
  }

  /** What the registry has answered counts more than the file, in this start and the next. */
  private async disprove(): Promise<void> {
    const { holder, parts } = this.context;
    holder.disproved = true;
    if (this.fileRecord?.state !== 'held') return;
    this.fileRecord = { ...this.fileRecord, state: 'lost' };
    await parts.file?.write(this.fileRecord).catch(() => undefined);
  }

  private choices(): AsyncIterable<Choice> {
    const { parts, options, claims, holder, clockCompared } = this.context;
    const { store, policy, random } = parts;
    const { instance, leaseId } = holder;
    const ofFile = this.fileRecord?.registry === claims.description ? this.fileRecord.workerId : undefined;
    const { maxWorkerId } = options;
    return policy.choices({
      ...{ store, instance, leaseId, maxWorkerId, clockCompared, random },
      previous: holder.previous ?? ofFile,
      now: this.now(),
    });
  }

  /** @returns undefined when another server took the record, or history has changed meanwhile */
  private async attempt(choice: Choice, registry: OpenRegistry): Promise<WorkerClaim | undefined> {
    const { claims, holder, options } = this.context;
    const found = 'take' in choice ? choice.take : undefined;
    const adopted = found && this.answerLost(found);
    // Our own record from before history was lost. In a pool it is free once its ceiling has passed.
    const isLeftBehind = found?.record.leaseId === holder.leaseId && !found.record.free && adopted === undefined;
    if (isLeftBehind && !claims.exclusive) return undefined;
    const recorded = adopted ?? found?.record.ceiling ?? 0;
    // R2: the new holder issues only above what it has read.
    const least = Math.max(recorded, registry.document.floor ?? 0, this.fileRecord?.ceiling ?? 0, holder.newest());
    if (!(await this.untilPassed(least, found)) || !(await this.isQuiet(found))) return undefined;
    await this.announceAttempt();
    const stored = adopted === undefined ? await this.write(choice, registry, recorded, least) : found;
    if (stored === undefined) {
      if (found !== undefined) await this.hasChanged(found);
      return undefined;
    }
    this.assertFits(stored);
    const { workerId, record } = stored;
    const onAnswer = (answer: StoredRegistry): Promise<void> => this.compareFile(answer);
    if (claims.exclusive && !options.remembers) await claims.memory.raiseHighest(workerId, onAnswer);
    const { document } = await claims.memory.open(onAnswer);
    if (!isSameHistory(document, registry.document)) return undefined;
    const isGivenAgain = recorded === 0 && workerId <= registry.document.highest;
    const floor = isGivenAgain ? this.floorOfRemoved(least) : least;
    const start = { workerId, floor, stored, registry: document, before: undefined, ceiling: record.ceiling };
    return new WorkerClaim(claims, holder, start);
  }

  /** @param least the recorded ceiling is never lower, even if the clock has stepped back meanwhile */
  private async write(
    choice: Choice,
    { stored }: OpenRegistry,
    recorded: number,
    least: number,
  ): Promise<StoredWorker | undefined> {
    const { parts, options, holder } = this.context;
    const record = holder.acquisition(Math.max(least, parts.clock.now() + options.horizonMs), recorded);
    return 'take' in choice
      ? parts.store.replace(choice.take, record)
      : parts.store.create(stored, record, choice.create);
  }

  /** For a worker ID whose earlier record was removed: its holder may issue until it must have noticed. */
  private floorOfRemoved(least: number): number {
    const { parts, options, claims } = this.context;
    return Math.max(least, parts.clock.now() + options.horizonMs + claims.maxClockOffsetMs);
  }

  /** When our own earlier acquisition wrote `found` and its answer was lost: the ceiling that it replaced. */
  private answerLost({ record }: StoredWorker): number | undefined {
    const { holder } = this.context;
    return record.leaseId === holder.leaseId && !record.free ? holder.replacedBy(record.write) : undefined;
  }

  /**
   * A record of our instance may be that of a twin, whose clock may be ahead of ours by the allowed offset.
   *
   * @returns false when the record has changed meanwhile and has to be read again
   */
  private async untilPassed(floor: number, found: StoredWorker | undefined): Promise<boolean> {
    const { options, claims, wait } = this.context;
    const longestMs = options.horizonMs + (found !== undefined && claims.exclusive ? claims.maxClockOffsetMs : 0);
    for (;;) {
      const left = floor - this.now();
      if (left < 0) return true;
      if (left > longestMs) throw clockBehind(claims.description, floor, left, longestMs);
      await wait(Math.min(left + 1, POLL_MS), reserved(claims.description, left));
      if (found !== undefined && claims.exclusive && (await this.hasChanged(found))) return false;
    }
  }

  /**
   * R10: Unix ms. A step ahead since the clock was compared does not make the ceiling of another server pass. Where no
   * confirmed write is ever lost, a server that is taken over too early cannot write again, and no such care is needed.
   */
  private now(): number {
    const { parts, options } = this.context;
    const { clock } = parts;
    return options.remembers ? clock.now() : Math.min(clock.now(), Math.floor(this.lead + clock.monotonic()));
  }

  /** The Java service writes the current time every 3 s: only waiting shows whether it still runs (R8). */
  private async isQuiet(found: StoredWorker | undefined): Promise<boolean> {
    const { claims, wait } = this.context;
    if (found === undefined || !claims.exclusive) return true;
    const { leaseId, free, ceiling } = found.record;
    if (leaseId !== undefined || free || this.now() - ceiling > 2 * FOREIGN_WATCH_MS) return true;
    await wait(FOREIGN_WATCH_MS, reserved(claims.description, FOREIGN_WATCH_MS));
    return !(await this.hasChanged(found));
  }

  /**
   * R8: a record of our instance that another process has written while we waited is held by a running server. The
   * newcomer gives way.
   *
   * @returns whether the record has changed in any other way, for example by a release
   */
  private async hasChanged(found: StoredWorker): Promise<boolean> {
    const { parts, claims, holder } = this.context;
    if (!claims.exclusive) return true;
    const current = await parts.store.read(found.workerId, holder.instance);
    if (current === undefined) return true;
    const { leaseId, write, ceiling, free } = current.record;
    const before = found.record;
    if (leaseId === before.leaseId && write === before.write && ceiling === before.ceiling && free === before.free) {
      return false;
    }
    if (leaseId === holder.leaseId || free) return true;
    await this.disprove();
    throw new LeafError(
      'LEAF_WORKER_HELD',
      `Worker ${found.workerId} of ${claims.description} is held by a running server with the same address and port, ${formatInstance(holder.instance)}. Stop that server, or give this one an address and port of its own (LEAF_ADVERTISE_HOST, LEAF_ADVERTISE_PORT; embedded: snowflake.instance).`,
    );
  }

  /** Notes our lease ID in the file first, so that the next start recognizes our record if the answer is lost. */
  private async announceAttempt(): Promise<void> {
    const { fileRecord, context } = this;
    const { leaseId } = context.holder;
    if (fileRecord === undefined || attemptsOf(fileRecord.attempt).includes(leaseId)) return;
    this.fileRecord = { ...fileRecord, attempt: withAttempt(fileRecord.attempt, leaseId) };
    await context.parts.file?.write(this.fileRecord);
  }

  private assertFits({ workerId }: StoredWorker): void {
    const { options, claims, holder } = this.context;
    if (workerId <= options.maxWorkerId) return;
    throw new LeafError(
      'LEAF_WORKERS_USED_UP',
      `${claims.description} gave worker ID ${workerId} to ${formatInstance(holder.instance)}, but the layout holds 0 to ${options.maxWorkerId}. This registry uses one up for each new address and port: keep those of a server over its restarts (LEAF_ADVERTISE_HOST, LEAF_ADVERTISE_PORT; embedded: snowflake.instance), or move all servers to the registry database or zk_recycle, which reuse worker IDs: docs/operations.md#changing-the-registry.`,
    );
  }

  private young(ms: number): LeafError {
    return new LeafError(
      'LEAF_NOT_READY',
      `${this.context.claims.description} is new or may have lost writes. Servers that hold worker IDs can register them again for ${Math.ceil(ms)} ms; then this server acquires one.`,
      { retryAfterMs: Math.ceil(ms) },
    );
  }
}

/** A worker ID that may be in use for `ms` milliseconds. */
export function reserved(registry: string, ms: number): LeafError {
  return new LeafError(
    'LEAF_NOT_READY',
    `The worker ID of this server in ${registry} may still be in use for ${ms} ms. This server acquires it by itself then.`,
    { retryAfterMs: ms + 1 },
  );
}

export function clockBehind(registry: string, floor: number, ms: number, longestMs: number): LeafError {
  return new LeafError(
    'LEAF_CLOCK_BEHIND',
    `The clock of this server is ${ms} ms behind the time that is reserved for its worker ID in ${registry}; this server waits for up to ${longestMs} ms. Correct the clock of this host, or start again once it has passed ${floor} (Unix ms).`,
  );
}
