import {
  formatInstance,
  type Instance,
  parseRegistryDocument,
  type Peer,
  type RegistryDocument,
  type StoredRegistry,
  type StoredWorker,
  type TimeSource,
  type WorkerRecord,
  WorkerStore,
} from '@leaf-ids/core';
import { holdersOf } from '@leaf-ids/core/internal';
import { decodePoolRecord, encodePoolRecord } from '../shared/pool-record';
import { unavailable, unreadable } from '../shared/store-errors';
import type { EtcdClient, EtcdHeader } from './etcd-client';
import { StoreHistory, type StoreProgress } from '../shared/store-history';
import { type EtcdEntry, formatVersion, parseVersion, readKeys, writeKey } from './etcd-keys';

/** Maximum number of reads of the document until one member answers all requests of a read. */
const ATTEMPTS = 10;

/**
 * Workers as keys of etcd: `/leaf/<name>/workers/<n>`, and the document of the registry in `/leaf/<name>/registry`. Each
 * write is a transaction that compares revision and value of the key; the creation of a record also those of the
 * document. A confirmed write is on a majority of the members, and reads are linearizable; {@link StoreHistory} recognizes
 * a cluster that lost its data all the same.
 */
export class EtcdWorkerStore extends WorkerStore {
  readonly description: string;
  private readonly documentKey: string;
  private readonly root: string;
  private readonly history = new StoreHistory();

  /**
   * @param client the store closes it
   * @param name name of the service, part of every key
   */
  constructor(
    private readonly client: EtcdClient,
    name: string,
  ) {
    super();
    this.documentKey = `/leaf/${name}/registry`;
    this.root = `/leaf/${name}/workers/`;
    this.description = `${client.description}/leaf/${name}`;
  }

  async readRegistry(): Promise<StoredRegistry> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { mark } = this.history;
      const before = await this.progress();
      const read = await readKeys(this.client, this.documentKey);
      const after = await this.progress();
      const { source, member, revision } = read.header;
      // The index of another member may trail the read.
      if (before.source !== source || after.member !== member) continue;
      const entry = read.entries[0] ?? { key: this.documentKey, value: undefined, revision: 0 };
      const document = entry.value === undefined ? undefined : this.parse(entry.value);
      const progress = { source, index: after.index, revision };
      const origin = this.history.originOf(document?.origin, { mark, index: before.index }, progress);
      return { document, origin, version: formatVersion(entry) };
    }
    throw unavailable(this.description, 'Its endpoints lead to different members in turn; name each member by itself.');
  }

  async writeRegistry({ version }: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    return (await this.write(JSON.stringify(document), parseVersion(this.documentKey, version))) !== undefined;
  }

  async list(instance?: Instance): Promise<StoredWorker[]> {
    const asked = instance && formatInstance(instance);
    // "0" follows "/": the end of all keys below the root.
    const entries = await this.entries(this.root, `${this.root.slice(0, -1)}0`);
    const found = entries.map((entry) => this.workerOf(entry)).filter((stored) => stored !== undefined);
    return found.filter(({ record }) => asked === undefined || formatInstance(record.instance) === asked);
  }

  async read(workerId: number): Promise<StoredWorker | undefined> {
    const key = this.keyOf(workerId);
    const [entry] = await this.entries(key);
    if (entry === undefined) return undefined;
    const stored = this.workerOf(entry);
    if (stored === undefined) throw unreadable(this.description, `key ${key}`);
    return stored;
  }

  /** Fails for `workerId` undefined: a pool has no numbering. */
  async create(
    { version }: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined> {
    if (workerId === undefined) return undefined;
    const missing = { key: this.keyOf(workerId), value: undefined, revision: 0 };
    return this.writeRecord(workerId, record, missing, parseVersion(this.documentKey, version));
  }

  replace({ workerId, version }: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    return this.writeRecord(workerId, record, parseVersion(this.keyOf(workerId), version));
  }

  override async peers(now: number): Promise<Peer[]> {
    return holdersOf(await this.list(), now);
  }

  override timeSources(): Promise<TimeSource[]> {
    return Promise.resolve(this.client.timeSources());
  }

  override abort(): Promise<void> {
    this.client.close();
    return Promise.resolve();
  }

  override close(): Promise<void> {
    return this.abort();
  }

  private keyOf(workerId: number): string {
    return this.root + String(workerId);
  }

  /** The index of the Raft log that a member has committed. */
  private async progress(): Promise<Pick<StoreProgress, 'source' | 'index'> & Pick<EtcdHeader, 'member'>> {
    const { header, body } = await this.client.call('/v3/maintenance/status', {});
    return { ...header, index: Number(body.raftIndex) };
  }

  private async entries(...range: [key: string, end?: string]): Promise<readonly EtcdEntry[]> {
    const { header, entries } = await readKeys(this.client, ...range);
    this.history.saw(header);
    return entries;
  }

  private async write(value: string, ...unchanged: [EtcdEntry, ...EtcdEntry[]]): Promise<EtcdEntry | undefined> {
    const written = await writeKey(this.client, value, ...unchanged);
    if (written !== undefined) this.history.saw(written);
    return written;
  }

  private async writeRecord(
    workerId: number,
    record: WorkerRecord,
    ...unchanged: [EtcdEntry, ...EtcdEntry[]]
  ): Promise<StoredWorker | undefined> {
    const written = await this.write(encodePoolRecord(record), ...unchanged);
    return written && { workerId, record, version: formatVersion(written) };
  }

  private workerOf(entry: EtcdEntry): StoredWorker | undefined {
    const number = entry.key.slice(this.root.length);
    const record = decodePoolRecord(entry.value ?? '');
    if (record === undefined || !/^(0|[1-9]\d{0,8})$/.test(number)) return undefined;
    return { workerId: Number(number), record, version: formatVersion(entry) };
  }

  private parse(value: string): RegistryDocument {
    const document = parseRegistryDocument(value);
    if (document === undefined) throw unreadable(this.description, `key ${this.documentKey}`);
    return document;
  }
}
