import { isCount, parseArray } from '@leaf-ids/core/internal';
import type { EtcdClient, EtcdHeader, EtcdReply } from './etcd-client';

/** The result of a write. */
export interface EtcdWrite extends Pick<EtcdReply, 'header' | 'repeated'> {
  /** Undefined if an entry had changed. */
  readonly written: EtcdEntry | undefined;
}

/** A key as read or written; without a value if it does not exist. */
export interface EtcdEntry {
  readonly key: string;
  readonly value: string | undefined;
  /** The revision of the last write, 0 if the key does not exist. */
  readonly revision: number;
}

export interface EtcdRead {
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
export async function readKeys(client: EtcdClient, key: string, end?: string): Promise<EtcdRead> {
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
export async function writeKey(
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
