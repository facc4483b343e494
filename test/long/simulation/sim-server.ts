import {
  formatInstance,
  type Instance,
  type RegistryDocument,
  type StoredRegistry,
  type StoredWorker,
  type WorkerRecord,
} from '@leaf-ids/core';
import type { Caller } from './network';

/** The process that sends a request. */
export type Writer = Pick<Caller, 'name' | 'leaseId'>;

/** What may be checked at every write that is applied. */
export interface WriteListener {
  /** @param isLate it was sent before the registry was emptied, or to a node that was created again since */
  wrote(writer: Writer, before: StoredWorker | undefined, after: StoredWorker, isLate: boolean): void;
  floorWritten(document: RegistryDocument): void;
}

/** The server behind a registry, as faults and checks see it. */
export interface RegistryServer {
  readonly document: RegistryDocument | undefined;
  list(): StoredWorker[];
  read(workerId: number): StoredWorker | undefined;
  /** Removes everything, and restarts the numbering. Connections stay open. */
  empty(): void;
  /** Removes the document; the records stay. */
  deleteDocument(): void;
}

/** A copy of the data. */
export interface Replica {
  readonly records: ReadonlyMap<number, StoredWorker>;
  readonly document: RegistryDocument | undefined;
}

/** The server behind a registry. Operations are atomic: it compares versions, numbers records, and can lose data. */
export class SimServer implements RegistryServer {
  document: RegistryDocument | undefined;
  private records = new Map<number, StoredWorker>();
  private origin = 0;
  private versions = 0;
  private next: number;

  /** @param first number of the first record that it numbers itself */
  constructor(
    private readonly listener: WriteListener,
    private readonly first: number,
  ) {
    this.next = first;
  }

  registry(): StoredRegistry {
    const { document } = this;
    return { document, origin: String(this.origin), version: JSON.stringify(document ?? null) };
  }

  writeRegistry(read: StoredRegistry, document: RegistryDocument): boolean {
    const { origin, version } = this.registry();
    if (read.version !== version || read.origin !== origin) return false;
    const written = this.document?.floor === undefined && document.floor !== undefined;
    this.document = document;
    if (written) this.listener.floorWritten(document);
    return true;
  }

  list(instance?: Instance): StoredWorker[] {
    const own = instance && formatInstance(instance);
    return [...this.records.values()].filter(
      ({ record }) => own === undefined || formatInstance(record.instance) === own,
    );
  }

  read(workerId: number): StoredWorker | undefined {
    return this.records.get(workerId);
  }

  create(
    writer: Writer,
    { origin, document }: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): StoredWorker | undefined {
    const number = workerId ?? this.next++;
    if (this.records.has(number) || origin !== String(this.origin)) return undefined;
    this.next = Math.max(this.next, number + 1);
    return this.put(writer, number, record, document?.id !== this.document?.id);
  }

  replace(writer: Writer, { workerId, version }: StoredWorker, record: WorkerRecord): StoredWorker | undefined {
    return this.records.get(workerId)?.version === version ? this.put(writer, workerId, record) : undefined;
  }

  replica(): Replica {
    return { records: new Map(this.records), document: this.document };
  }

  /** The same data once more, with another first number. */
  clone(first: number): SimServer {
    const clone = new SimServer(this.listener, first);
    clone.records = new Map(this.records);
    clone.document = this.document;
    clone.versions = this.versions;
    return clone;
  }

  /** Promotes a replica. Later writes are lost, and earlier reads no longer compare equal. */
  promote({ records, document }: Replica): void {
    this.origin++;
    this.records = new Map(
      [...records].map(([id, stored]) => [id, { ...stored, version: `${this.origin}.${stored.version}` }]),
    );
    this.document = document;
    this.next = Math.max(this.first, ...[...records.keys()].map((id) => id + 1));
  }

  empty(): void {
    this.records.clear();
    this.document = undefined;
    this.next = this.first;
  }

  deleteDocument(): void {
    this.document = undefined;
  }

  private put(writer: Writer, workerId: number, record: WorkerRecord, isLate = false): StoredWorker {
    const before = this.records.get(workerId);
    const stored = { workerId, record, version: String(++this.versions) };
    this.records.set(workerId, stored);
    this.listener.wrote(writer, before, stored, isLate);
    return stored;
  }
}
