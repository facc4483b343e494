import { LeafError } from '../errors/leaf-error';
import { formatInstance, type Instance } from '../worker/records/instance';
import type { RegistryDocument } from '../worker/records/registry-document';
import {
  type StoredRegistry,
  type StoredWorker,
  type TimeSource,
  type WorkerRecord,
  WorkerStore,
} from '../worker/records/worker-store';

/** The server of a registry, which outlives the processes. Operations are atomic. */
export class InMemoryWorkers {
  readonly records = new Map<number, StoredWorker>();
  document: RegistryDocument | undefined;
  /** Identity of the data; changes with another copy of the data, as after a failover. */
  origin = 'a';
  private versions = 0;
  private next: number;

  /** @param first number of the first record that the store numbers itself */
  constructor(private readonly first = 0) {
    this.next = first;
  }

  registry(): StoredRegistry {
    return { document: this.document, origin: this.origin, version: this.versionOf(this.document) };
  }

  writeRegistry(read: StoredRegistry, document: RegistryDocument): boolean {
    if (read.version !== this.versionOf(this.document) || read.origin !== this.origin) return false;
    this.document = document;
    return true;
  }

  create(registry: StoredRegistry, record: WorkerRecord, workerId: number | undefined): StoredWorker | undefined {
    const number = workerId ?? this.next++;
    if (this.records.has(number) || registry.origin !== this.origin) return undefined;
    this.next = Math.max(this.next, number + 1);
    return this.put(number, record);
  }

  replace({ workerId, version }: StoredWorker, record: WorkerRecord): StoredWorker | undefined {
    return this.records.get(workerId)?.version === version ? this.put(workerId, record) : undefined;
  }

  /** Simulates the loss of all data. */
  wipe(): void {
    this.records.clear();
    this.document = undefined;
    this.next = this.first;
  }

  /** Restarts the numbering at the highest row, or the first, as a database may after a restart. */
  wipeNumbering(): void {
    this.next = this.first;
  }

  /** What a replica would have that is promoted now; restore it with {@link promote}. */
  copy(): ReadonlyMap<number, StoredWorker> & { readonly document?: RegistryDocument | undefined } {
    return Object.assign(new Map(this.records), { document: this.document });
  }

  /** Promotes a replica with the data of `copy`. */
  promote(copy: ReturnType<InMemoryWorkers['copy']>, origin: string): void {
    this.records.clear();
    for (const [workerId, stored] of copy)
      this.records.set(workerId, { ...stored, version: `${origin}${stored.version}` });
    this.document = copy.document;
    this.next = Math.max(this.first, ...[...copy.keys()].map((key) => key + 1));
    this.origin = origin;
  }

  private put(workerId: number, record: WorkerRecord): StoredWorker {
    const stored = { workerId, record, version: String(++this.versions) };
    this.records.set(workerId, stored);
    return stored;
  }

  private versionOf(document: RegistryDocument | undefined): string {
    return JSON.stringify(document ?? null);
  }
}

/** Connection faults. All but `down` begin after a server has read the document. */
export type Line = 'up' | 'down' | 'answers are lost' | 'writes come late';

/** The connection of one process to {@link InMemoryWorkers}. */
export class InMemoryWorkerStore extends WorkerStore {
  line: Line = 'up';
  description = 'memory';
  sources: TimeSource[] = [];
  private readonly late: (() => unknown)[] = [];

  constructor(readonly server: InMemoryWorkers) {
    super();
  }

  readRegistry(): Promise<StoredRegistry> {
    return this.ask(() => this.server.registry(), this.line !== 'down');
  }

  writeRegistry(read: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    return this.write(() => this.server.writeRegistry(read, document));
  }

  list(instance?: Instance): Promise<StoredWorker[]> {
    const own = instance && formatInstance(instance);
    return this.ask(() =>
      [...this.server.records.values()].filter(
        ({ record }) => own === undefined || formatInstance(record.instance) === own,
      ),
    );
  }

  read(workerId: number): Promise<StoredWorker | undefined> {
    return this.ask(() => this.server.records.get(workerId));
  }

  create(
    registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined> {
    return this.write(() => this.server.create(registry, record, workerId));
  }

  replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    return this.write(() => this.server.replace(read, record));
  }

  override timeSources(): Promise<TimeSource[]> {
    return Promise.resolve(this.sources);
  }

  /** Applies the delayed writes in the order in which they were sent. */
  deliver(): void {
    for (const act of this.late.splice(0)) act();
  }

  private async ask<T>(act: () => T, isAnswered = this.line === 'up'): Promise<T> {
    await Promise.resolve();
    if (isAnswered) return act();
    throw unreachable();
  }

  private async write<T>(act: () => T): Promise<T> {
    await Promise.resolve();
    if (this.line === 'up') return act();
    if (this.line === 'answers are lost') act();
    if (this.line === 'writes come late') this.late.push(act);
    throw unreachable();
  }
}

function unreachable(): LeafError {
  return new LeafError('LEAF_REGISTRY_UNREACHABLE', 'The line is down.', { retryAfterMs: 1000 });
}
