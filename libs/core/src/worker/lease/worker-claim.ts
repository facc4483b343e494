import { isLeafError, type LeafError, reasonOf } from '../../errors/leaf-error';
import { type ClaimContext, type ClaimStart, endsLease, leaseLost, recordContested } from '../registry/worker-errors';
import { fileRecordOf } from './claim-file';
import type { LeaseHolder } from '../records/lease-holder';
import { isAnswerOf, isSameHistory, type OpenRegistry, type RegistryHistory } from '../registry/registry-memory';
import type { RegistryDocument } from '../records/registry-document';
import { type Relation, relationOf } from '../records/record-relation';
import type { FileRecord } from '../records/worker-file';
import type { NewWorker, StoredWorker, WorkerRecord } from '../records/worker-store';

/** The ceiling to record in place of `recorded`; undefined if that may not be replaced. */
type EndAfter = (recorded: number) => number | undefined;

/** Maximum number of attempts of a write that loses races against other servers. */
const ATTEMPTS = 10;

/**
 * An acquired worker ID, which can be extended and released. After a write without a reply, it reads the outcome back,
 * as a {@link Relation}: *ours*, *behind*, *gone* or *another's*. If the registry has its full history, the last three
 * are final: a second server with this address has written, or records were changed by hand (R7). If the registry has a
 * new ID or generation, it has lost its history: a holder whose ceiling has not passed registers again, by a create, or
 * by a replace that only raises the ceiling (R5); any other holder must acquire again. In the grace period of a
 * generation nobody acquires worker IDs, so *gone* is not final then. A holder in a pool that finds another's lease must
 * also acquire again: it was disconnected until its ceiling had passed.
 */
export class WorkerClaim {
  readonly workerId: number;
  /** Unix milliseconds: all IDs have later timestamps. */
  readonly floor: number;
  /** Unix milliseconds: the ceiling recorded in the registry, or in the worker file that replaces it. */
  ceiling: number;
  /** Why the worker file replaces the registry; undefined while the registry is reachable. */
  degradedReason: string | undefined;

  /** How often it was registered again after the registry lost its history. */
  registrations = 0;

  private registry: RegistryHistory;
  private stored: StoredWorker | undefined;
  /** Unix milliseconds: earlier holders may have issued up to this time, so no lower ceiling may be recorded. */
  private least: number;
  /** Number of the latest confirmed write, 0 before the first. */
  private confirmed: number;
  /** The ceiling of that write. */
  private confirmedCeiling: number | undefined;
  private readonly before: FileRecord | undefined;
  /** Whether this server has registered again in a generation that has no floor yet. */
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
    this.confirmed = 0;
    if (stored !== undefined) this.confirm(stored);
    holder.previous = workerId;
  }

  /**
   * Records `ceiling` in the registry, or in the worker file while the registry is unreachable. After a rejection other
   * than `LEAF_LEASE_LOST`, the claim is unchanged and the outcome of the write may be unknown.
   *
   * @param endAfter the ceiling to record in place of the one in the registry; `ceiling` by default
   * @returns false if the registry has lost its history and this server must acquire another worker, or the recorded
   *   ceiling may not be replaced
   * @throws LeafError `LEAF_LEASE_LOST`, `LEAF_LAYOUT_MISMATCH`, `LEAF_REGISTRY_MISMATCH` (final);
   *   `LEAF_REGISTRY_UNREACHABLE`
   */
  async extend(ceiling: number, endAfter: EndAfter = () => ceiling): Promise<boolean> {
    const { file, store, clock } = this.context;
    // R9: lower it in memory first: the record may be lowered even if the reply is lost.
    this.ceiling = Math.min(this.ceiling, ceiling);
    try {
      if (!(await this.record(ceiling, endAfter))) {
        this.holder.disproved = true;
        await file?.write(this.fileRecord('lost')).catch(() => undefined);
        return false;
      }
      this.degradedReason = undefined;
      if (!this.holder.shared) store.announce(this.holder.instance, this.workerId);
    } catch (error) {
      const state = endsLease(error) ? 'lost' : this.fileState();
      // If the ceiling has passed, this server was suspended and may have been replaced.
      const mayStandIn = file !== undefined && state === 'held';
      const standsIn = mayStandIn && isLeafError(error, 'LEAF_REGISTRY_UNREACHABLE') && clock.now() <= this.ceiling;
      if (!standsIn) {
        // The next start needs to know how many writes may still be applied.
        await file?.write(this.fileRecord(state)).catch(() => undefined);
        throw error;
      }
      this.degradedReason = reasonOf(error);
    }
    await file?.write({ ...this.fileRecord(this.fileState()), ceiling });
    // Another server may have recorded a higher ceiling of a shared lease, which was not lowered.
    this.ceiling = (this.holder.shared ? this.confirmedCeiling : undefined) ?? ceiling;
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
      if (isLeafError(error, 'LEAF_LEASE_LOST')) state = 'lost';
      throw error;
    } finally {
      await file?.write({ ...this.fileRecord(state), ceiling });
    }
  }

  /** The record that registers a window again in a registry without one; undefined if its ceiling may have passed (R5). */
  get registration(): NewWorker | undefined {
    const { workerId, holder, ceiling } = this;
    return this.mayRegister() ? { workerId, record: holder.record(ceiling) } : undefined;
  }

  /**
   * Goes on from a record of a window that registers it in the history of `document`, because this server has created
   * it again, or because the registry had not lost it. Does nothing for any other record.
   */
  adopt(current: StoredWorker, document: RegistryDocument): void {
    const { free, ceiling, write } = current.record;
    const isRegistered = !free && ceiling >= this.ceiling && this.relationOf(current.record) === 'ours';
    if (!isRegistered || !this.mayRegister()) return;
    this.stored = current;
    this.least = Math.max(this.least, ceiling);
    this.holder.attempted = Math.max(this.holder.attempted, write);
    this.confirm(current);
    this.adoptHistory(document);
  }

  /** Whether the registry assigned or confirmed this claim in this history. */
  isOf(history: RegistryHistory): boolean {
    return isSameHistory(this.registry, history);
  }

  /** Writes the acquired record to the file before the first ID is issued. */
  async save(): Promise<void> {
    await this.context.file?.write(this.fileRecord('held'));
  }

  private async record(ceiling: number, endAfter: EndAfter): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // R6: read before the write, so that a history that is adopted contains the written record.
      const open = this.stored === undefined || this.holder.shared ? undefined : await this.openRegistry();
      // R5: the history that was lost may have contained another holder.
      if (open !== undefined && !this.isOf(open.document) && !this.mayRegister()) this.stored = undefined;
      const stored = this.stored ?? (await this.recover(ceiling));
      const end = stored && endAfter(stored.record.ceiling);
      if (stored === undefined || end === undefined) return false;
      this.stored = await this.replace(stored, this.holder.record(Math.max(end, this.least)));
      if (this.stored === undefined) continue;
      this.confirm(this.stored);
      if (open !== undefined && !isSameHistory(this.registry, open.document)) this.adoptHistory(open.document);
      this.holder.disproved = false;
      await this.settle();
      return true;
    }
    throw this.unreachable(`was written by others ${ATTEMPTS} times in a row`);
  }

  /**
   * Reads the record to continue from, after a failed compare-and-set or a start from the file.
   *
   * @returns undefined if this server must acquire another worker
   */
  private async recover(ceiling: number, attempts = ATTEMPTS): Promise<StoredWorker | undefined> {
    const { store } = this.context;
    const current = await store.read(this.workerId, this.holder.instance);
    // Read after the record: if history is lost between the two reads, that explains a record that is behind.
    const open = await this.openRegistry();
    const changed = !isSameHistory(this.registry, open.document);
    const relation = this.relationOf(current?.record);
    if (this.holder.shared && relation !== 'another' && current !== undefined) {
      // Another server has released it, or has written records since.
      if (current.record.free) return undefined;
      this.holder.attempted = Math.max(this.holder.attempted, current.record.write);
    }
    if (!changed) {
      if (relation === 'ours') return this.adopted(current);
      // A pool assigns a worker to another server when its ceiling has passed.
      if (relation === 'another' && !this.context.exclusive) return undefined;
      // In the grace period nobody has acquired the worker ID: a record that is gone was deleted with the registry.
      if (relation !== 'gone' || open.document.floor !== undefined) throw this.lost(relation);
    }
    if (relation === 'another' || !this.mayRegister()) return undefined;
    // The record may lack our latest writes: never lower its ceiling.
    const record = this.holder.record(Math.max(ceiling, this.ceiling, current?.record.ceiling ?? 0));
    const registered =
      current === undefined
        ? await store.create(open.stored, record, this.workerId)
        : await store.replace(current, record);
    if (registered === undefined) {
      this.holder.refused(record);
      // Another server was faster.
      if (attempts > 1) return this.recover(ceiling, attempts - 1);
      // The worker ID now belongs to another instance, or this instance has another worker ID: the file cannot replace
      // that.
      if (current === undefined) return undefined;
      throw this.unreachable(`could not be written in ${ATTEMPTS} attempts`);
    }
    this.registrations++;
    this.adoptHistory(open.document);
    return registered;
  }

  private adoptHistory(document: RegistryDocument): void {
    this.registry = document;
    this.unsettled = document.floor === undefined;
  }

  /**
   * After the registry has returned a different history, the file is not used until the registry confirms the claim
   * again.
   */
  private openRegistry(): Promise<OpenRegistry> {
    return this.context.memory.open({
      holds: this.context.clock.now() <= this.ceiling,
      onAnswer: (answer) => {
        if (!isAnswerOf(this.registry, answer)) this.holder.disproved = true;
      },
    });
  }

  /** The previous process, whose file this server started from, may have recorded a higher ceiling than the file has. */
  private adopted(current: StoredWorker | undefined): StoredWorker | undefined {
    const isOfPredecessor = this.confirmed === 0 && current?.record.leaseId !== this.holder.leaseId;
    if (isOfPredecessor) this.least = Math.max(this.least, current?.record.ceiling ?? 0);
    return current;
  }

  /** A ceiling protects the worker ID only if it has not passed, even by a clock that is ahead by the allowed offset. */
  private mayRegister(): boolean {
    const { clock, clockOffsetMs } = this.context;
    return clock.now() <= this.ceiling - clockOffsetMs;
  }

  private relationOf(record: WorkerRecord | undefined): Relation {
    const { holder, confirmed, confirmedCeiling, before } = this;
    return relationOf(record, holder, { confirmed, confirmedCeiling, before });
  }

  /** After registering again, also ends the grace period for later newcomers. The next read shows whether it has ended. */
  private async settle(): Promise<void> {
    if (!this.unsettled) return;
    const { memory, compareClock } = this.context;
    try {
      const open = await this.openRegistry();
      this.unsettled = open.document.floor === undefined;
      await memory.settle(open, () => compareClock(this.holder));
    } catch {
      // The record is already written; the next report retries.
    }
  }

  /** Reads our record after a failed compare-and-set; undefined if the registry has never confirmed it. */
  private async readOwn(): Promise<StoredWorker | undefined> {
    if (this.confirmed === 0) return undefined;
    const stored = await this.context.store.read(this.workerId, this.holder.instance);
    const relation = this.relationOf(stored?.record);
    if (relation === 'ours') return stored;
    throw this.lost(relation);
  }

  private async giveBack(stored: StoredWorker, ceiling: number): Promise<void> {
    let read = stored;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (read.record.free) return;
      if ((await this.replace(read, this.holder.record(ceiling, true))) !== undefined) return;
      read = (await this.readOwn()) ?? read;
    }
    throw this.unreachable(`was written by others ${ATTEMPTS} times in a row`);
  }

  private async replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    const written = await this.context.store.replace(read, record);
    if (written === undefined) this.holder.refused(record);
    return written;
  }

  private confirm({ record }: StoredWorker): void {
    this.confirmed = record.write;
    this.confirmedCeiling = record.ceiling;
    this.holder.confirmed(record);
  }

  private fileState(): FileRecord['state'] {
    return this.holder.disproved ? 'lost' : 'held';
  }

  private fileRecord(state: FileRecord['state']): FileRecord {
    const { context, holder, workerId, ceiling, registry, confirmed, before } = this;
    return fileRecordOf(context, holder, { workerId, ceiling, registry, confirmed, before, state });
  }

  private lost(relation: string): LeafError {
    return leaseLost(this.workerId, this.context.description, this.holder.instance, relation);
  }

  private unreachable(problem: string): LeafError {
    return recordContested(this.workerId, this.context.description, problem);
  }
}
