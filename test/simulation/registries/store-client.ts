import type { Caller, Network } from '../network';
import type { RecordStore } from '../record-store';
import type { StoredRecord, Write } from '../stored-record';

/** One process's connection to the server behind its registry. Every call may fail with an outcome unknown. */
export class StoreClient {
  constructor(
    private readonly store: RecordStore,
    private readonly network: Network,
    private readonly caller: Caller,
  ) {}

  list(): Promise<readonly StoredRecord[]> {
    return this.network.call(this.caller, 'list', () => this.store.list(), false);
  }

  get(workerId: number): Promise<StoredRecord> {
    return this.network.call(this.caller, 'get', () => this.store.get(workerId), false);
  }

  create(owner: string): Promise<void> {
    return this.network.call(this.caller, 'create', () => this.store.create(owner), true);
  }

  write(write: Write): Promise<boolean> {
    return this.network.call(this.caller, write.kind, () => this.store.write(write), true);
  }
}
