import type { Ledger } from './ledger';
import type { StoredRecord, Write } from './stored-record';

/** The server behind a registry: each operation happens at once or not at all. */
export class RecordStore {
  private readonly records: StoredRecord[] = [];

  constructor(private readonly ledger: Ledger) {}

  list(): readonly StoredRecord[] {
    return [...this.records];
  }

  get(workerId: number): StoredRecord {
    return this.records[workerId]!;
  }

  /** Makes one more record; its worker ID is the next. */
  create(owner: string): void {
    const workerId = this.records.length;
    this.records.push({ workerId, owner, ceiling: 0, version: 0, leaseId: undefined, inUse: false });
  }

  /** @returns whether the comparison held and the change was made */
  write(write: Write): boolean {
    const found = this.get(write.workerId);
    if (!write.compare(found)) return false;
    const next = { ...found, ...write.change, version: found.version + 1 };
    this.records[write.workerId] = next;
    this.ledger.written(write, found, next);
    return true;
  }
}
