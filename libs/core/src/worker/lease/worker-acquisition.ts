import { isLeafError, LeafError } from '../../errors/leaf-error';
import { formatTime } from '../../util/json';
import type { ClaimContext } from '../registry/worker-errors';
import { formatInstance } from '../records/instance';
import type { LeaseHolder, Wait } from '../records/lease-holder';
import type { RegistryDocument } from '../records/registry-document';
import { isAnswerOf, isSameHistory, type OpenRegistry } from '../registry/registry-memory';
import { type WorkerRegistryOptions, type WorkerRegistryParts, workersOf } from '../registry/registry-options';
import { WorkerClaim } from './worker-claim';
import { attemptsOf, type FileRecord, withAttempt } from '../records/worker-file';
import type { Choice, Room } from '../registry/worker-policy';
import type { StoredRegistry, StoredWorker } from '../records/worker-store';

/** The inputs of an acquisition. */
export interface AcquisitionContext {
  readonly parts: WorkerRegistryParts;
  readonly options: WorkerRegistryOptions;
  readonly claims: ClaimContext;
  readonly holder: LeaseHolder;
  readonly wait: Wait;
  readonly room: Room | undefined;
  /** The content of the worker file at the start; undefined if there is none. */
  readonly found: FileRecord | undefined;
  /** Whether our clock was compared with others and is correct. */
  readonly clockCompared: boolean;
  /** Offset of the wall clock from the monotonic clock at that comparison, in milliseconds. */
  readonly lead: number;
}

/** Polling interval during waits, in milliseconds. */
const POLL_MS = 500;
/** How long the record of a Java server is watched, in milliseconds; longer than its report interval. */
const FOREIGN_WATCH_MS = 4000;
/** Maximum number of rounds. A round fails only if other servers take every candidate first. */
const ROUNDS = 200;

/** One attempt to acquire a worker ID from the store, under rules R2, R3, R5 and R8. */
export class WorkerAcquisition {
  private fileRecord: FileRecord | undefined;

  constructor(private readonly context: AcquisitionContext) {
    this.fileRecord = context.found;
  }

  async run(): Promise<WorkerClaim> {
    const { claims, holder, parts } = this.context;
    for (let round = 0; round < ROUNDS; round++) {
      const registry = await this.settled();
      for await (const choice of this.choices()) {
        const claim = await this.attempt(choice, registry);
        if (claim === 'outdated') break;
        if (claim === undefined) continue;
        await claim.save();
        holder.disproved = false;
        if (!holder.shared) parts.store.announce(holder.instance, claim.workerId);
        return claim;
      }
    }
    throw new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `Other servers took every free record of ${claims.description} first, ${ROUNDS} times in a row. This server retries automatically.`,
      { retryAfterMs: 1000 },
    );
  }

  /** Waits until the registry has a document (R6), and until every holder has had time to register again (R5). */
  private async settled(): Promise<OpenRegistry> {
    const { claims, holder, wait } = this.context;
    for (;;) {
      const registry = await claims.memory.open({ onAnswer: (answer) => this.compareFile(answer) }).catch(asReason);
      if (registry instanceof LeafError) {
        await wait(registry.retryAfterMs ?? POLL_MS, registry);
        continue;
      }
      if (registry.document.floor !== undefined) return registry;
      const left = await claims.memory.settle(registry, () => claims.compareClock(holder));
      // Poll: another server may have observed the generation for longer and end the grace period earlier.
      if (left > 0) await wait(Math.min(left, POLL_MS), this.young(left));
    }
  }

  private async compareFile(answer: StoredRegistry): Promise<void> {
    const { fileRecord } = this;
    if (fileRecord?.registry !== this.context.claims.description) return;
    const { registryId: id, generation, origin, began } = fileRecord;
    if (!isAnswerOf({ id, generation, origin, began }, answer)) await this.disprove();
  }

  /** The registry contradicts the file: do not use the file in this start or the next. */
  private async disprove(): Promise<void> {
    const { holder, parts } = this.context;
    holder.disproved = true;
    if (this.fileRecord?.state !== 'held') return;
    this.fileRecord = { ...this.fileRecord, state: 'lost' };
    await parts.file?.write(this.fileRecord).catch(() => undefined);
  }

  private choices(): AsyncIterable<Choice> {
    const { parts, options, claims, holder, clockCompared, room } = this.context;
    const { store, policy, random } = parts;
    const { instance, leaseId } = holder;
    const ofFile = this.fileRecord?.registry === claims.description ? this.fileRecord.workerId : undefined;
    return policy.choices({
      ...{ store, instance, leaseId, workers: workersOf(options), clockCompared, random, room },
      previous: holder.previous ?? ofFile,
      now: this.now(),
    });
  }

  /** @returns undefined if another server took the record; `outdated` if the history of the registry has changed */
  private async attempt(choice: Choice, registry: OpenRegistry): Promise<WorkerClaim | 'outdated' | undefined> {
    const { claims, holder, options } = this.context;
    const found = 'take' in choice ? choice.take : undefined;
    const adopted = found && this.answerLost(found);
    // Our own record from before the registry lost its history. In a pool it becomes free when its ceiling has passed.
    const isLeftBehind = found?.record.leaseId === holder.leaseId && !found.record.free && adopted === undefined;
    if (isLeftBehind && !claims.exclusive) return undefined;
    const recorded = adopted ?? found?.record.ceiling ?? 0;
    const unproven = found === undefined ? 0 : await this.floorOfUnproven(found, registry);
    const known = Math.max(recorded, unproven, this.fileRecord?.ceiling ?? 0, holder.newest());
    // R2: the new holder issues only above what it has read.
    const least = Math.max(known, registry.document.floor ?? 0);
    if (!(await this.untilPassed(least, found, registry))) return undefined;
    await this.announceAttempt();
    // R3: also a record of our own, whose reply was lost: a copy of this process may find it, too.
    const stored = await this.write(choice, registry, recorded, least);
    if (stored === undefined) {
      if (found !== undefined && claims.exclusive) await this.hasChanged(found);
      return undefined;
    }
    this.assertFits(stored);
    const { workerId, record } = stored;
    const held = { holds: true, onAnswer: (answer: StoredRegistry): Promise<void> => this.compareFile(answer) };
    if (claims.exclusive && !options.remembers) await claims.memory.raiseHighest(workerId, held);
    const { document } = await claims.memory.open(held);
    if (!isSameHistory(document, registry.document)) return 'outdated';
    const isGivenAgain = recorded === 0 && workerId <= registry.document.highest;
    const floor = isGivenAgain ? Math.max(least, this.floorAfterHolder(document)) : least;
    const start = { workerId, floor, stored, registry: document, before: undefined, ceiling: record.ceiling };
    return new WorkerClaim(claims, holder, start);
  }

  /** @param least lower bound of the recorded ceiling, even if the clock has stepped back in the meantime */
  private async write(
    choice: Choice,
    { stored }: OpenRegistry,
    recorded: number,
    least: number,
  ): Promise<StoredWorker | undefined> {
    const { parts, options, holder } = this.context;
    const record = holder.acquisition(Math.max(least, parts.clock.now() + options.leaseTtlMs), recorded, least);
    const written =
      'take' in choice
        ? await parts.store.replace(choice.take, record)
        : await parts.store.create(stored, record, choice.create);
    if (written === undefined) holder.refused(record);
    return written;
  }

  /** The floor for a worker ID whose holder may have reserved as much time ahead as any server of this registry. */
  private floorAfterHolder({ horizonMs = 0 }: RegistryDocument): number {
    return this.now() + horizonMs + this.context.claims.clockOffsetMs;
  }

  /** If an earlier acquisition of this server wrote `found` and its reply was lost: the ceiling that it replaced. */
  private answerLost({ record }: StoredWorker): number | undefined {
    return record.free ? undefined : this.context.holder.sentAs(record)?.replaced;
  }

  /**
   * Waits until `floor` has passed. In an exclusive registry, the record may belong to a second server with our
   * address, whose clock may be ahead of ours by the allowed offset.
   *
   * @returns false if the record has changed and must be read again
   */
  private async untilPassed(
    floor: number,
    found: StoredWorker | undefined,
    { document }: OpenRegistry,
  ): Promise<boolean> {
    const { options, claims, wait } = this.context;
    const leaseTtlMs = Math.max(options.leaseTtlMs, document.horizonMs ?? 0);
    const longestMs = leaseTtlMs + (found !== undefined && claims.exclusive ? claims.clockOffsetMs : 0);
    for (;;) {
      const left = floor - this.now();
      if (left < 0) return true;
      if (left > longestMs) throw clockBehind(claims.description, floor, left, longestMs);
      await wait(Math.min(left + 1, POLL_MS), reserved(claims.description, left));
      if (found !== undefined && claims.exclusive && (await this.hasChanged(found))) return false;
    }
  }

  /**
   * R10: Unix milliseconds, without forward steps of the wall clock since it was compared: such a step must not make
   * the ceiling of another server pass. If the store never loses a confirmed write, this is not necessary, because a
   * holder that is taken over too early cannot write again.
   */
  private now(): number {
    const { parts, options, lead } = this.context;
    const { clock } = parts;
    return options.remembers ? clock.now() : Math.min(clock.now(), Math.floor(lead + clock.monotonic()));
  }

  /**
   * The floor for the record of our address, if neither this process nor its file has held its lease. Its holder may
   * have issued IDs above the recorded ceiling while it was cut off from the registry: from a file that is lost, or
   * because it is a Java server, which reserves no time. That holder has ended, or the wait for this floor shows that it
   * runs (R8). So its IDs are at or below the current time of its clock, or below what it had reserved by that clock.
   *
   * Our own file then proves nothing: the registry has shown the lease of another process.
   *
   * @returns 0 if the recorded ceiling is the highest one that the holder has used
   */
  private async floorOfUnproven({ workerId, record }: StoredWorker, { document }: OpenRegistry): Promise<number> {
    const { claims, holder, options } = this.context;
    const { fileRecord } = this;
    const { leaseId } = record;
    if (!claims.exclusive || options.remembers || leaseId === holder.leaseId) return 0;
    if (fileRecord?.registry === claims.description) {
      const leases: (string | undefined)[] = [fileRecord.leaseId, ...attemptsOf(fileRecord.attempt)];
      if (fileRecord.workerId === workerId && leases.includes(leaseId)) return 0;
      await this.disprove();
    }
    if (record.free) return 0;
    if (leaseId === undefined) return this.now() + Math.max(claims.clockOffsetMs, FOREIGN_WATCH_MS);
    return document.continues === false ? 0 : this.floorAfterHolder(document);
  }

  /**
   * R8, for a registry in which a record belongs to one address: if another process wrote that of our instance while this
   * server waited, that process is running. The newcomer gives up.
   *
   * @returns whether the record has changed in another way, for example by a release
   */
  private async hasChanged(found: StoredWorker): Promise<boolean> {
    const { parts, claims, holder } = this.context;
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
      `A running server with the same address and port, ${formatInstance(holder.instance)}, holds worker ${found.workerId} of ${claims.description}. Stop that server, or give this server a different address or port (the option snowflake.instance).`,
    );
  }

  /**
   * Writes our lease ID to the file before the acquisition, so that the next start recognizes our record if the reply
   * is lost.
   */
  private async announceAttempt(): Promise<void> {
    const { fileRecord, context } = this;
    const { leaseId } = context.holder;
    if (fileRecord === undefined || attemptsOf(fileRecord.attempt).includes(leaseId)) return;
    this.fileRecord = { ...fileRecord, attempt: withAttempt(fileRecord.attempt, leaseId) };
    await context.parts.file?.write(this.fileRecord);
  }

  private assertFits({ workerId }: StoredWorker): void {
    const { options, claims, holder } = this.context;
    const { first, last } = workersOf(options);
    if (workerId >= first && workerId <= last) return;
    throw new LeafError(
      'LEAF_WORKERS_USED_UP',
      `${claims.description} assigned worker ID ${workerId} to ${formatInstance(holder.instance)}, but this server can have only ${first} to ${last}. This registry uses a new worker ID for each new address and port: keep the address and port of a server across restarts (the option snowflake.instance), or move all servers to the registry database or zk_recycle, which reuse worker IDs: docs/operations/worker-registry.md#changing-the-registry.`,
    );
  }

  private young(ms: number): LeafError {
    return new LeafError(
      'LEAF_NOT_READY',
      `${this.context.claims.description} is new or may have lost writes. Servers that hold worker IDs can register them again for another ${Math.ceil(ms)} ms; then this server acquires one.`,
      { retryAfterMs: Math.ceil(ms) },
    );
  }
}

function asReason(error: unknown): LeafError {
  if (isLeafError(error, 'LEAF_NOT_READY')) return error;
  throw error;
}

/** The error while the worker ID may still be in use, for `ms` milliseconds. */
export function reserved(registry: string, ms: number): LeafError {
  return new LeafError(
    'LEAF_NOT_READY',
    `The worker ID of this server in ${registry} may still be in use for ${ms} ms. Then this server acquires it automatically.`,
    { retryAfterMs: ms + 1 },
  );
}

export function clockBehind(registry: string, floor: number, ms: number, longestMs: number): LeafError {
  return new LeafError(
    'LEAF_CLOCK_BEHIND',
    `The clock of this server is ${ms} ms behind the time reserved for its worker ID in ${registry}; this server waits for at most ${longestMs} ms. Correct the clock of this host. If the clock was ahead when that time was reserved, this server acquires the worker ID when the clock has passed ${formatTime(floor)}; until then, give it an unused worker ID: docs/operations/worker-registry.md#clocks.`,
  );
}
