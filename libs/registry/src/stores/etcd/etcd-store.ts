import type { RegistryDocument, StoredRegistry, TimeSource, WorkerRecord } from '@leaf-ids/core';
import { encodePoolRecord } from '../shared/pool-record';
import { type PoolEntry, PoolStore, type PoolWrite } from '../shared/pool-store';
import { unavailable } from '../shared/store-errors';
import { StoreHistory, type StoreProgress } from '../shared/store-history';
import type { EtcdClient, EtcdHeader } from './etcd-client';
import { type EtcdEntry, formatVersion, parseVersion, readKeys, writeKey } from './etcd-keys';

/** Maximum number of reads of the document until one member answers all requests of a read. */
const ATTEMPTS = 10;

/**
 * Workers as keys of etcd: `/leaf/<name>/workers/<n>`, and the document of the registry in `/leaf/<name>/registry`. Each
 * write is a transaction that compares revision and value of the key; the creation of a record also those of the
 * document. A confirmed write is on a majority of the members, and reads are linearizable; {@link StoreHistory} recognizes
 * a cluster that lost its data all the same.
 */
export class EtcdWorkerStore extends PoolStore {
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
      const document = entry.value === undefined ? undefined : this.parseDocument(entry.value);
      const progress = { source, index: after.index, revision };
      const origin = this.history.originOf(document?.origin, { mark, index: before.index }, progress);
      return { document, origin, version: formatVersion(entry) };
    }
    throw unavailable(this.description, 'Its endpoints lead to different members in turn; name each member by itself.');
  }

  async writeRegistry({ version }: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    const written = await this.write(JSON.stringify(document), parseVersion(this.documentKey, version));
    return written.version !== undefined;
  }

  override timeSources(): Promise<TimeSource[]> {
    return Promise.resolve(this.client.timeSources());
  }

  override abort(): Promise<void> {
    this.client.close();
    return Promise.resolve();
  }

  protected override async entries(workerId?: number): Promise<readonly PoolEntry[]> {
    // "0" follows "/": the end of all keys below the root.
    const range: [key: string, end?: string] =
      workerId === undefined ? [this.root, `${this.root.slice(0, -1)}0`] : [this.keyOf(workerId)];
    const { header, entries } = await readKeys(this.client, ...range);
    this.history.saw(header);
    return entries.map((entry) => ({
      number: entry.key.slice(this.root.length),
      text: entry.value,
      version: formatVersion(entry),
    }));
  }

  protected override placeOf(workerId?: number): string {
    return `key ${workerId === undefined ? this.documentKey : this.keyOf(workerId)}`;
  }

  protected override createRecord(
    { version }: StoredRegistry,
    workerId: number,
    record: WorkerRecord,
  ): Promise<PoolWrite> {
    const missing = { key: this.keyOf(workerId), value: undefined, revision: 0 };
    return this.write(encodePoolRecord(record), missing, parseVersion(this.documentKey, version));
  }

  protected override replaceRecord(workerId: number, version: string, record: WorkerRecord): Promise<PoolWrite> {
    return this.write(encodePoolRecord(record), parseVersion(this.keyOf(workerId), version));
  }

  private keyOf(workerId: number): string {
    return this.root + String(workerId);
  }

  /** The index of the Raft log that a member has committed. */
  private async progress(): Promise<Pick<StoreProgress, 'source' | 'index'> & Pick<EtcdHeader, 'member'>> {
    const { header, body } = await this.client.call('/v3/maintenance/status', {});
    return { ...header, index: Number(body.raftIndex) };
  }

  private async write(value: string, ...unchanged: [EtcdEntry, ...EtcdEntry[]]): Promise<PoolWrite> {
    const { header, written, repeated } = await writeKey(this.client, value, ...unchanged);
    if (written !== undefined) this.history.saw(header);
    return { version: written && formatVersion(written), repeated };
  }
}
