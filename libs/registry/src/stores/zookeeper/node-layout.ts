import { formatInstance, type Instance, type WorkerRecord } from '@leaf-ids/core';
import { isCount, isTime, parseArray, parseObject } from '@leaf-ids/core/internal';
import { decodePoolRecord, encodePoolRecord } from '../shared/pool-store';
import { hide, reveal } from './hidden-text';
import type { ZookeeperNode } from './zookeeper-session';

/** The values that a write compares. */
export type Token = Pick<ZookeeperNode, 'session' | 'created' | 'version' | 'data'>;

/** The token of a missing node. */
export const NO_TOKEN: Token = { session: 0, created: 0, version: 0, data: '' };

export function formatToken({ session, created, version, data }: Token): string {
  return JSON.stringify([session, created, version, data]);
}

/** Parses a token; returns {@link NO_TOKEN}, which no node has, for any other text. */
export function parseToken(text: string): Token {
  const [session, created, version, data] = parseArray(text);
  if (!isCount(session) || !isCount(created) || !isCount(version) || typeof data !== 'string') return NO_TOKEN;
  return { session, created, version, data };
}

/** A parsed node name. */
export interface NodeName {
  readonly name: string;
  readonly workerId: number;
  /** Undefined if names contain no instance. */
  readonly instance: Instance | undefined;
}

/** How to read the record nodes. */
export interface ReadableLayout {
  /** Path of the records, relative to the node of the service. */
  readonly records: string;
  /** Parses a node name; undefined if it is not the name of a record. */
  readonly parseName: (name: string) => NodeName | undefined;
  /** Decodes the data of a node; undefined if it is not a record. */
  readonly decode: (data: string, name: NodeName) => WorkerRecord | undefined;
}

/** Names and data format of the record nodes. */
export interface NodeLayout extends ReadableLayout {
  /** @param workerId undefined: omit the digits that ZooKeeper appends to a sequential node */
  readonly nameOf: (workerId: number | undefined, instance: Instance) => string;
  /** The record as it will be written. */
  readonly normalize: (record: WorkerRecord) => WorkerRecord;
  readonly encode: (record: WorkerRecord) => string;
}

const DIGITS = 10;

/**
 * The format of the Java service: `forever/<ip>:<port>-<10 digits>` with the data `{"ip","port","timestamp"}`. Its
 * parser rejects other keys, so lease ID, write number and free flag are appended as whitespace. Records of the Java
 * service and of Leaf version 1 do not have them.
 */
export const SEQUENTIAL: NodeLayout = {
  records: 'forever',
  // Host names may contain dashes; the last dash is the separator.
  parseName: (name) => {
    const [, bracketed, plain, port, sequence] = /^(?:\[(.+)\]|(.+)):(\d{1,5})-(\d{10})$/.exec(name) ?? [];
    const ip = bracketed ?? plain;
    return ip === undefined ? undefined : { name, workerId: Number(sequence), instance: { ip, port: Number(port) } };
  },
  nameOf: (workerId, instance) =>
    `${formatInstance(instance)}-${workerId === undefined ? '' : String(workerId).padStart(DIGITS, '0')}`,
  // Leaf version 1 interprets an even ceiling in the next node version as its own extension whose reply was lost. So
  // only releases, which come at least two node versions later, may write an even ceiling.
  normalize: (record) =>
    record.free || record.ceiling % 2 !== 0 ? record : { ...record, ceiling: record.ceiling + 1 },
  encode: ({ instance: { ip, port }, leaseId, write, ceiling, free }) =>
    JSON.stringify({ ip, port: String(port), timestamp: ceiling }) +
    hide(JSON.stringify([leaseId ?? null, write, free])),
  decode: (data, { instance }) => {
    const ceiling = parseObject(data).timestamp;
    if (instance === undefined || !isTime(ceiling)) return undefined;
    const [leaseId, write, free] = parseArray(reveal(data));
    if (typeof leaseId !== 'string' || !isCount(write))
      return { instance, leaseId: undefined, write: 0, ceiling, free: false };
    return { instance, leaseId, write, ceiling, free: free === true };
  },
};

/** A pool: `recycle/workers/<n>`. */
export const PLAIN: NodeLayout = {
  records: 'recycle/workers',
  parseName: (name) =>
    /^(0|[1-9]\d{0,8})$/.test(name) ? { name, workerId: Number(name), instance: undefined } : undefined,
  nameOf: (workerId) => String(workerId),
  normalize: (record) => record,
  encode: encodePoolRecord,
  decode: decodePoolRecord,
};

/**
 * The pool of the Java fork, whose servers report every 3 s and issue IDs without a ceiling:
 * `recycle/inuse/workId:<n>` with the data `{"workId","lastUsedIp","lastUsedPort","lastUsedTimestamp"}`.
 */
export const FORK: ReadableLayout = {
  records: 'recycle/inuse',
  parseName: (name) => {
    const [, workerId] = /^workId:(\d{1,9})$/.exec(name) ?? [];
    return workerId === undefined ? undefined : { name, workerId: Number(workerId), instance: undefined };
  },
  decode: (data) => {
    const { lastUsedIp, lastUsedPort, lastUsedTimestamp } = parseObject(data);
    if (!isTime(lastUsedTimestamp)) return undefined;
    const instance = { ip: String(lastUsedIp), port: Number(lastUsedPort) };
    return { instance, leaseId: undefined, write: 0, ceiling: lastUsedTimestamp, free: false };
  },
};
