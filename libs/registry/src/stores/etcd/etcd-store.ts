import type { RegistryDocument, StoredRegistry, TimeSource, WorkerRecord } from '@leaf-ids/core';
import { isCount, parseArray } from '@leaf-ids/core/internal';
import { encodePoolRecord, type PoolEntry, PoolStore, type PoolWrite } from '../shared/pool-store';
import { unavailable } from '../shared/store-errors';
import { StoreHistory, type StoreProgress } from '../shared/store-history';
import type { EtcdClient, EtcdHeader, EtcdReply } from './etcd-client';

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

/** The result of a write. */
interface EtcdWrite extends Pick<EtcdReply, 'header' | 'repeated'> {
  /** Undefined if an entry had changed. */
  readonly written: EtcdEntry | undefined;
}

/** A key as read or written; without a value if it does not exist. */
interface EtcdEntry {
  readonly key: string;
  readonly value: string | undefined;
  /** The revision of the last write, 0 if the key does not exist. */
  readonly revision: number;
}

interface EtcdRead {
  readonly header: EtcdHeader;
  readonly entries: readonly EtcdEntry[];
}

/** The value and the revision of an entry, which a write compares. */
export function formatVersion({ value, revision }: EtcdEntry): string {
  return JSON.stringify([revision, value ?? null]);
}

/** Parses what {@link formatVersion} returns. For an invalid version, the revision is -1, which no key has. */
export function parseVersion(key: string, version: string): EtcdEntry {
  const [revision, value] = parseArray(version);
  return { key, revision: isCount(revision) ? revision : -1, value: typeof value === 'string' ? value : undefined };
}

/** Linearizable: reflects all writes that were confirmed before. */
async function readKeys(client: EtcdClient, key: string, end?: string): Promise<EtcdRead> {
  const range = { key: encode(key), ...(end !== undefined && { range_end: encode(end) }) };
  const { header, body } = await client.call('/v3/kv/range', range);
  const { kvs = [] } = body as { readonly kvs?: readonly { key: string; value?: string; mod_revision: string }[] };
  const entries = kvs.map((kv) => ({
    ...{ key: decode(kv.key), value: decode(kv.value ?? ''), revision: Number(kv.mod_revision) },
  }));
  return { header, entries };
}

/**
 * Writes a value if all entries are unchanged.
 *
 * @param unchanged the first one is the entry to write
 */
async function writeKey(
  client: EtcdClient,
  value: string,
  ...unchanged: [EtcdEntry, ...EtcdEntry[]]
): Promise<EtcdWrite> {
  const [{ key }] = unchanged;
  const { header, body, repeated } = await client.call('/v3/kv/txn', {
    compare: unchanged.flatMap(compare),
    success: [{ request_put: { key: encode(key), value: encode(value) } }],
  });
  const written = body.succeeded === true ? { key, value, revision: header.revision } : undefined;
  return { header, written, repeated };
}

/**
 * The value as well: a cluster that was restored uses revisions again. Two values of one key are only equal if one
 * server wrote both with the same number of the write.
 */
function compare({ key, value, revision }: EtcdEntry): object[] {
  const at = { key: encode(key), result: 'EQUAL' };
  const isAtRevision = { ...at, target: 'MOD', mod_revision: String(revision) };
  return value === undefined ? [isAtRevision] : [isAtRevision, { ...at, target: 'VALUE', value: encode(value) }];
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}
