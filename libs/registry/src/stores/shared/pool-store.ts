import {
  formatInstance,
  type Instance,
  parseRegistryDocument,
  type Peer,
  type RegistryDocument,
  type StoredRegistry,
  type StoredWorker,
  type WorkerRecord,
  WorkerStore,
} from '@leaf-ids/core';
import { holdersOf, isCount, isTime, parseObject } from '@leaf-ids/core/internal';
import { unreadable } from './store-errors';

/** A record as text. */
export interface PoolEntry {
  /** The worker ID, from the name of the record. */
  readonly number: string;
  readonly text: string | undefined;
  readonly version: string;
}

/** The result of a write. */
export interface PoolWrite {
  /** The version of the record; undefined if the compare failed. */
  readonly version: string | undefined;
  /** Whether an earlier attempt without a reply may have executed the write, so that a later one failed to compare. */
  readonly repeated: boolean;
}

/** Pool records in a store that is reached over HTTP. The store does not number records. */
export abstract class PoolStore extends WorkerStore {
  async list(instance?: Instance): Promise<StoredWorker[]> {
    const asked = instance && formatInstance(instance);
    const found = (await this.entries()).map(parseEntry).filter((stored) => stored !== undefined);
    return found.filter(({ record }) => asked === undefined || formatInstance(record.instance) === asked);
  }

  async read(workerId: number): Promise<StoredWorker | undefined> {
    const [entry] = await this.entries(workerId);
    if (entry === undefined) return undefined;
    const stored = parseEntry(entry);
    if (stored === undefined) throw unreadable(this.description, this.placeOf(workerId));
    return stored;
  }

  /** Fails for `workerId` undefined: a pool has no numbering. */
  async create(
    registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined> {
    if (workerId === undefined) return undefined;
    return this.outcome(workerId, record, await this.createRecord(registry, workerId, record));
  }

  async replace({ workerId, version }: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    return this.outcome(workerId, record, await this.replaceRecord(workerId, version, record));
  }

  override async peers(now: number): Promise<Peer[]> {
    return holdersOf(await this.list(), now);
  }

  override close(): Promise<void> {
    return this.abort();
  }

  /** Reads all records, or one. */
  protected abstract entries(workerId?: number): Promise<readonly PoolEntry[]>;

  /** Names the place of a record, or of the document, for errors. */
  protected abstract placeOf(workerId?: number): string;

  protected abstract createRecord(registry: StoredRegistry, workerId: number, record: WorkerRecord): Promise<PoolWrite>;

  protected abstract replaceRecord(workerId: number, version: string, record: WorkerRecord): Promise<PoolWrite>;

  /** @throws LeafError `LEAF_WORKER_FILE_INVALID` */
  protected parseDocument(text: string): RegistryDocument {
    const document = parseRegistryDocument(text);
    if (document === undefined) throw unreadable(this.description, this.placeOf());
    return document;
  }

  /** Reads a repeated write back, so that the caller does not take its own record for that of another server. */
  private async outcome(
    workerId: number,
    record: WorkerRecord,
    { version, repeated }: PoolWrite,
  ): Promise<StoredWorker | undefined> {
    if (version !== undefined) return { workerId, record, version };
    const current = repeated ? await this.read(workerId) : undefined;
    return current && encodePoolRecord(current.record) === encodePoolRecord(record) ? current : undefined;
  }
}

function parseEntry({ number, text = '', version }: PoolEntry): StoredWorker | undefined {
  const record = decodePoolRecord(text);
  if (record === undefined || !/^(0|[1-9]\d{0,8})$/.test(number)) return undefined;
  return { workerId: Number(number), record, version };
}

/** The record of a pool as text: `{"state","ip","port","leaseId","ceiling","write"}`. */
export function encodePoolRecord({ instance, leaseId = '', write, ceiling, free }: WorkerRecord): string {
  const { ip, port } = instance;
  return JSON.stringify({ state: free ? 'notuse' : 'inuse', ip, port: String(port), leaseId, ceiling, write });
}

/** @returns undefined if the text is not the record of a pool */
export function decodePoolRecord(text: string): WorkerRecord | undefined {
  const { state, ip, port, leaseId, ceiling, write = 0 } = parseObject(text);
  const known = state === 'notuse' || state === 'inuse';
  if (!known || typeof ip !== 'string' || typeof port !== 'string' || typeof leaseId !== 'string') return undefined;
  if (!isTime(ceiling) || !isCount(write)) return undefined;
  const instance = { ip, port: Number(port) };
  return { instance, leaseId: leaseId === '' ? undefined : leaseId, write, ceiling, free: state === 'notuse' };
}
