/** What a registry keeps of one worker. Immutable: a write makes a new one. */
export interface StoredRecord {
  readonly workerId: number;
  /** The `ip:port` that it was made for; '' in a pool. */
  readonly owner: string;
  readonly ceiling: number;
  /** Raised by every write. */
  readonly version: number;
  /** Of its holder; undefined when it has none. A protocol whose records have no room for it does not look at it. */
  readonly leaseId: string | undefined;
  readonly inUse: boolean;
}

export interface Write {
  readonly kind: 'acquire' | 'extend' | 'release' | 'reclaim';
  /** Who writes; for the ledger, not part of what is recorded. */
  readonly leaseId: string;
  readonly workerId: number;
  readonly compare: (found: StoredRecord) => boolean;
  readonly change: Partial<Pick<StoredRecord, 'ceiling' | 'leaseId' | 'inUse'>>;
}
