import {
  formatInstance,
  type Instance,
  type RegistryDocument,
  type StoredRegistry,
  type StoredWorker,
  type TimeSource,
  type WorkerRecord,
  WorkerStore,
} from '@leaf-ids/core';
import type { Caller } from './network';
import type { SimServer } from './sim-server';

/** Runs one operation over the simulated network or disk. */
export type Carry = <T>(label: string, operation: () => T, isWrite: boolean) => Promise<T>;

/** Access of one process to a {@link SimServer}. */
export class SimStore extends WorkerStore {
  constructor(
    readonly description: string,
    private readonly server: SimServer,
    private readonly caller: Caller,
    private readonly carry: Carry,
    private readonly sources: () => TimeSource[],
    private readonly readsByInstance: boolean,
  ) {
    super();
  }

  readRegistry(): Promise<StoredRegistry> {
    return this.carry('readRegistry', () => this.server.registry(), false);
  }

  writeRegistry(read: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    return this.carry('writeRegistry', () => this.server.writeRegistry(read, document), true);
  }

  list(instance?: Instance): Promise<StoredWorker[]> {
    return this.carry('list', () => this.server.list(instance), false);
  }

  /** A table finds the row of an instance, ZooKeeper whoever has the number. */
  read(workerId: number, instance: Instance): Promise<StoredWorker | undefined> {
    const isRead = ({ record }: StoredWorker): boolean =>
      !this.readsByInstance || formatInstance(record.instance) === formatInstance(instance);
    const found = (): StoredWorker | undefined => {
      const stored = this.server.read(workerId);
      return stored !== undefined && isRead(stored) ? stored : undefined;
    };
    return this.carry('read', found, false);
  }

  create(
    registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined> {
    return this.carry('create', () => this.server.create(this.caller, registry, record, workerId), true);
  }

  replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    return this.carry('replace', () => this.server.replace(this.caller, read, record), true);
  }

  override timeSources(): Promise<TimeSource[]> {
    return Promise.resolve(this.sources());
  }
}
