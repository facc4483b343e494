import { LeafError, reasonOf } from '../errors/leaf-error';
import type { ClaimContext, ClaimStart } from './claim-context';
import { leaseLost, recordContested } from './claim-errors';
import { formatInstance } from './instance';
import type { LeaseHolder } from './lease-holder';
import { isAnswerOf, isSameHistory, type OpenRegistry, type RegistryHistory } from './registry-memory';
import { attemptsOf, type FileRecord, withAttempt } from './worker-file';
import type { StoredWorker, WorkerRecord } from './worker-store';

/** A write may lose a race now and then, not every time. */
const ATTEMPTS = 10;

/**
 * A worker ID that was acquired. It can be extended and released, and reads back what became of an unanswered write.
 *
 * A record carries the lease ID of its holder and the number of the write, so that reading back tells four cases:
 * *ours*, *behind* (ours, but from before a write that was confirmed), *gone*, and *another's*. The last three are
 * final when the registry remembers everything: a twin has written, or records were changed by hand (R7). When
 * its ID or generation is a new one, history was lost: a holder whose ceiling has not passed registers again, by a
 * create or by a replace that only raises (R5); any other has to acquire again. So has a holder in a pool that finds
 * another's lease: it was cut off until its ceiling had passed.
 */
export class WorkerClaim {
  readonly workerId: number;
  /** Unix milliseconds: IDs carry later timestamps only. */
  readonly floor: number;
  /** Unix milliseconds: recorded, in the registry or in the file that stands in for it. */
  ceiling: number;
  /** Why the file stands in for the registry; undefined while the registry is reached. */
  degradedReason: string | undefined;

  /** How often it was registered again after history was lost. */
  registrations = 0;

  private registry: RegistryHistory;
  private stored: StoredWorker | undefined;
  /** Unix milliseconds: holders before us may have issued up to here, so that no lower ceiling is recorded. */
  private least: number;
  /** Number of the newest write that was confirmed, 0 before the first. */
  private confirmed: number;
  /** The ceiling that it recorded. */
  private confirmedCeiling: number | undefined;
  private readonly before: FileRecord | undefined;
  /** We have registered again, and the generation has no floor yet. */
  private unsettled = false;

  constructor(
    private readonly context: ClaimContext,
    private readonly holder: LeaseHolder,
    { workerId, floor, ceiling, registry, stored, before }: ClaimStart,
  ) {
    this.workerId = workerId;
    this.floor = floor;
    this.least = floor;
    this.ceiling = ceiling;
    this.registry = registry;
    this.stored = stored;
    this.before = before;
    this.confirmed = stored?.record.write ?? 0;
    this.confirmedCeiling = stored?.record.ceiling;
    holder.previous = workerId;
  }

  /**
   * Records `ceiling`, in the registry, or in the file while the registry is away. A rejection other than
   * `LEAF_LEASE_LOST` leaves the claim as it was; the outcome may be unknown.
   *
   * @returns false when the registry has lost its history and another worker has to be acquired
   * @throws LeafError `LEAF_LEASE_LOST` for good, `LEAF_REGISTRY_UNREACHABLE`
   */
  async extend(ceiling: number): Promise<boolean> {
    const { file, store, clock } = this.context;
    // R9: from here on no ID lies above it: the record may have been lowered even if the answer is lost.
    this.ceiling = Math.min(this.ceiling, ceiling);
    try {
      if (!(await this.record(ceiling))) {
        this.holder.disproved = true;
        await file?.write(this.fileRecord('lost')).catch(() => undefined);
        return false;
      }
      this.degradedReason = undefined;
      store.announce(this.holder.instance, this.workerId);
    } catch (error) {
      const state = isLost(error) ? 'lost' : this.fileState();
      // A server whose ceiling has passed was suspended, and may have been replaced.
      const standsIn = isUnreachable(error) && file !== undefined && state === 'held' && clock.now() <= this.ceiling;
      if (!standsIn) {
        // The next start has to know how many writes may still be applied.
        await file?.write(this.fileRecord(state)).catch(() => undefined);
        throw error;
      }
      this.degradedReason = reasonOf(error);
    }
    await file?.write({ ...this.fileRecord(this.fileState()), ceiling });
    this.ceiling = ceiling;
    return true;
  }

  /**
   * Releases the worker ID: the next holder issues only above `ceiling` (R4).
   *
   * @throws LeafError `LEAF_LEASE_LOST`, `LEAF_REGISTRY_UNREACHABLE`
   */
  async release(ceiling: number): Promise<void> {
    const { file } = this.context;
    let state = this.fileState();
    try {
      const stored = this.stored ?? (await this.readOwn());
      if (stored !== undefined) {
        await this.giveBack(stored, ceiling);
        state = 'released';
      }
    } catch (error) {
      if (isLost(error)) state = 'lost';
      throw error;
    } finally {
      await file?.write({ ...this.fileRecord(state), ceiling });
    }
  }

  /** Writes what the acquisition has recorded to the file, before the first ID is issued. */
  async save(): Promise<void> {
    await this.context.file?.write(this.fileRecord('held'));
  }

  private async record(ceiling: number): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stored = this.stored ?? (await this.recover(ceiling));
      if (stored === undefined) return false;
      this.stored = await this.context.store.replace(stored, this.holder.record(Math.max(ceiling, this.least)));
      if (this.stored === undefined) continue;
      this.confirmed = this.stored.record.write;
      this.confirmedCeiling = this.stored.record.ceiling;
      this.holder.disproved = false;
      await this.settle();
      return true;
    }
    throw this.unreachable(`was written by others ${ATTEMPTS} times in a row`);
  }

  /**
   * The record to go on from, after a failed compare or a start from the file.
   *
   * @returns undefined when another worker has to be acquired
   */
  private async recover(ceiling: number, attempts = ATTEMPTS): Promise<StoredWorker | undefined> {
    const { store } = this.context;
    const current = await store.read(this.workerId, this.holder.instance);
    // After the record: history that is lost between the two reads explains a record that is behind.
    const open = await this.openRegistry();
    const changed = !isSameHistory(this.registry, open.document);
    const relation = this.relationOf(current?.record);
    if (!changed) {
      if (relation === 'ours') return this.adopted(current);
      // A pool gives a worker to another server once its ceiling has passed.
      if (relation === 'another' && !this.context.exclusive) return undefined;
      throw this.lost(relation);
    }
    if (relation === 'another' || !this.mayRegister()) return undefined;
    // Over a record that may lack our newest writes: its ceiling never falls.
    const record = this.holder.record(Math.max(ceiling, this.ceiling, current?.record.ceiling ?? 0));
    const registered =
      current === undefined
        ? await store.create(open.stored, record, this.workerId)
        : await store.replace(current, record);
    if (registered === undefined) {
      // Somebody else was faster.
      if (attempts > 1) return this.recover(ceiling, attempts - 1);
      // The number is that of another instance by now, or this instance has another number: no file stands in for that.
      if (current === undefined) return undefined;
      throw this.unreachable(`could not be written again in ${ATTEMPTS} attempts`);
    }
    this.registry = open.document;
    this.registrations++;
    this.unsettled = open.document.floor === undefined;
    return registered;
  }

  /** Once the registry has answered with another history, no file stands in until it has confirmed the claim again. */
  private openRegistry(): Promise<OpenRegistry> {
    return this.context.memory.open((answer) => {
      if (!isAnswerOf(this.registry, answer)) this.holder.disproved = true;
    });
  }

  /** The process before us, whose file we started from, may have recorded more than it could write to the file. */
  private adopted(current: StoredWorker | undefined): StoredWorker | undefined {
    const isOfPredecessor = this.confirmed === 0 && current?.record.leaseId !== this.holder.leaseId;
    if (isOfPredecessor) this.least = Math.max(this.least, current?.record.ceiling ?? 0);
    return current;
  }

  /** A ceiling that may have passed, by a clock that may be behind, no longer protects the worker ID. */
  private mayRegister(): boolean {
    return this.context.clock.now() <= this.ceiling - this.context.maxClockOffsetMs;
  }

  private relationOf(record: WorkerRecord | undefined): 'ours' | 'behind' | 'gone' | 'another' {
    if (record === undefined) return 'gone';
    const { leaseId, write, ceiling } = record;
    if (leaseId === this.holder.leaseId) {
      // In a table, the Java service writes the time alone.
      if (write === this.confirmed && ceiling !== this.confirmedCeiling) return 'another';
      return write >= this.confirmed ? 'ours' : 'behind';
    }
    const { before } = this;
    if (this.confirmed > 0 || before === undefined || leaseId === undefined) return 'another';
    if (attemptsOf(before.attempt).includes(leaseId)) return 'ours';
    // A process that died during a report may have sent more writes than its file tells: at most two, when no other
    // server writes.
    if (leaseId !== before.leaseId || write > before.attempted + 2) return 'another';
    return write >= before.write ? 'ours' : 'behind';
  }

  /** A holder that registered again also ends the grace, so that later newcomers do not wait for it. */
  private async settle(): Promise<void> {
    if (!this.unsettled) return;
    const { memory, compareClock } = this.context;
    try {
      this.unsettled = (await memory.settle(await this.openRegistry(), () => compareClock(this.holder))) > 0;
    } catch {
      // The record is written all the same; the next report tries again.
    }
  }

  /** The record after a compare that failed; undefined when the registry has never confirmed it. */
  private async readOwn(): Promise<StoredWorker | undefined> {
    if (this.confirmed === 0) return undefined;
    const stored = await this.context.store.read(this.workerId, this.holder.instance);
    const relation = this.relationOf(stored?.record);
    if (relation === 'ours') return stored;
    throw this.lost(relation);
  }

  private async giveBack(stored: StoredWorker, ceiling: number): Promise<void> {
    const { store } = this.context;
    let read = stored;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (read.record.free) return;
      if ((await store.replace(read, this.holder.record(ceiling, true))) !== undefined) return;
      read = (await this.readOwn()) ?? read;
    }
    throw this.unreachable(`was written by others ${ATTEMPTS} times in a row`);
  }

  private fileState(): FileRecord['state'] {
    return this.holder.disproved ? 'lost' : 'held';
  }

  private fileRecord(state: FileRecord['state']): FileRecord {
    const { description, layout } = this.context;
    const { holder, workerId, ceiling, registry, confirmed, before } = this;
    const { leaseId, attempted } = holder;
    const known = {
      ...{ instance: formatInstance(holder.instance), registry: description, layout, workerId, ceiling, state },
      ...{ registryId: registry.id, generation: registry.generation, origin: registry.origin, began: registry.began },
    };
    if (confirmed === 0 && before !== undefined) {
      return { ...before, ...known, attempt: withAttempt(before.attempt, leaseId) };
    }
    return { ...known, leaseId, write: confirmed, attempted, attempt: undefined };
  }

  private lost(relation: string): LeafError {
    return leaseLost(this.workerId, this.context.description, this.holder.instance, relation);
  }

  private unreachable(problem: string): LeafError {
    return recordContested(this.workerId, this.context.description, problem);
  }
}

function isLost(error: unknown): boolean {
  return error instanceof LeafError && error.code === 'LEAF_LEASE_LOST';
}

function isUnreachable(error: unknown): boolean {
  return error instanceof LeafError && error.code === 'LEAF_REGISTRY_UNREACHABLE';
}
