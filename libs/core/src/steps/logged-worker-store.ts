import type { Instance } from '../worker/records/instance';
import type { RegistryDocument } from '../worker/records/registry-document';
import {
  type NewWorker,
  type Peer,
  type StoredRegistry,
  type StoredWorker,
  type TimeSource,
  type WorkerRecord,
  WorkerStore,
} from '../worker/records/worker-store';
import { recordStep, type StepLog, type StepRecord } from './step-log';

/** Records each write of a worker store with its outcome, and each content of a record that is new to this process. */
export class LoggedWorkerStore extends WorkerStore {
  readonly description: string;
  /** The records as this process knows them, as text. */
  private readonly known = new Map<number, string>();
  private history = '';

  constructor(
    private readonly store: WorkerStore,
    private readonly log: StepLog,
    private readonly pool: boolean,
  ) {
    super();
    this.description = store.description;
  }

  async readRegistry(): Promise<StoredRegistry> {
    const read = await this.store.readRegistry();
    const { document, origin } = read;
    if (document === undefined) return read;
    const { id, generation, began, floor = null, horizonMs = 0 } = document;
    const step = { history: [id, generation, origin, began].join(' '), floor, horizonMs, pool: this.pool };
    const text = JSON.stringify(step);
    if (text !== this.history) this.log.add({ kind: 'history', ...step });
    this.history = text;
    return read;
  }

  writeRegistry(read: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    return this.store.writeRegistry(read, document);
  }

  async list(instance?: Instance): Promise<StoredWorker[]> {
    const asked = this.log.order;
    const records = await this.store.list(instance);
    for (const { workerId, record } of records) this.see(asked, workerId, recordStep(record));
    if (instance !== undefined) return records;
    const present = new Set(records.map(({ workerId }) => workerId));
    for (const workerId of this.known.keys()) if (!present.has(workerId)) this.see(asked, workerId, null);
    return records;
  }

  async read(workerId: number, instance: Instance): Promise<StoredWorker | undefined> {
    const asked = this.log.order;
    const stored = await this.store.read(workerId, instance);
    // A table returns only the row of the instance, so an empty result does not prove that the record is absent.
    if (stored !== undefined) this.see(asked, workerId, recordStep(stored.record));
    return stored;
  }

  create(
    registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined> {
    return this.written(workerId ?? null, null, record, () => this.store.create(registry, record, workerId));
  }

  /** The caller reads the records to learn the outcome. */
  override createAll(registry: StoredRegistry, workers: readonly NewWorker[]): Promise<void> {
    for (const { workerId, record } of workers) {
      const of = this.log.add({ kind: 'send', worker: workerId, before: null, after: recordStep(record) });
      this.log.add({ kind: 'unknown', of });
    }
    return this.store.createAll(registry, workers);
  }

  replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    return this.written(read.workerId, recordStep(read.record), record, () => this.store.replace(read, record));
  }

  override isUnheld(workerId: number): Promise<boolean> {
    return this.store.isUnheld(workerId);
  }

  override announce(instance: Instance, workerId: number): void {
    this.store.announce(instance, workerId);
  }

  override otherStrategies(mayBeUsed: (record: WorkerRecord) => boolean): Promise<string | undefined> {
    return this.store.otherStrategies(mayBeUsed);
  }

  override peers(now: number): Promise<Peer[]> {
    return this.store.peers(now);
  }

  override timeSources(): Promise<TimeSource[]> {
    return this.store.timeSources();
  }

  override abort(): Promise<void> {
    return this.store.abort();
  }

  override close(): Promise<void> {
    this.log.flush();
    return this.store.close();
  }

  private async written(
    worker: number | null,
    before: StepRecord | null,
    record: WorkerRecord,
    write: () => Promise<StoredWorker | undefined>,
  ): Promise<StoredWorker | undefined> {
    const of = this.log.add({ kind: 'send', worker, before, after: recordStep(record) });
    try {
      const stored = await write();
      const step = stored === undefined ? null : recordStep(stored.record);
      if (stored !== undefined) this.known.set(stored.workerId, JSON.stringify(step));
      this.log.add({ kind: 'done', of, worker: stored?.workerId ?? worker, stored: step });
      return stored;
    } catch (error) {
      this.log.add({ kind: 'unknown', of });
      throw error;
    }
  }

  private see(asked: number, worker: number, record: StepRecord | null): void {
    const text = JSON.stringify(record);
    const known = this.known.get(worker);
    if (known === text) return;
    if (record === null) this.known.delete(worker);
    else this.known.set(worker, text);
    if (record === null && known === undefined) return;
    this.log.add({ kind: 'read', asked, worker, record });
  }
}
