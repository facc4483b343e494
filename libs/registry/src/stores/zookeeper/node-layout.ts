import {
  formatInstance,
  type Instance,
  isCount,
  isTime,
  parseArray,
  parseObject,
  type WorkerRecord,
} from '@leaf-ids/core';
import { hide, reveal } from './hidden-text';

/** The name of a node, taken apart. */
export interface NodeName {
  readonly name: string;
  readonly workerId: number;
  /** Undefined where names carry none. */
  readonly instance: Instance | undefined;
}

/** Names and data of the nodes that hold records. */
export interface NodeLayout {
  /** Parent of the records, below the node of the service. */
  readonly records: string;
  /** Undefined for a name that is not the name of a record. */
  readonly parseName: (name: string) => NodeName | undefined;
  /** @param workerId undefined: without the digits that ZooKeeper appends to a sequential node */
  readonly nameOf: (workerId: number | undefined, instance: Instance) => string;
  /** The record as it is written. */
  readonly normalize: (record: WorkerRecord) => WorkerRecord;
  readonly encode: (record: WorkerRecord) => string;
  /** Undefined for data that is not a record. */
  readonly decode: (data: string, name: NodeName) => WorkerRecord | undefined;
}

const DIGITS = 10;

/**
 * As the Java service writes them: `forever/<ip>:<port>-<10 digits>` with the data `{"ip","port","timestamp"}`. Its
 * parser fails on other keys, so lease ID, write and free flag follow as white space. The Java service and our version
 * 1 write none.
 */
export const SEQUENTIAL: NodeLayout = {
  records: 'forever',
  // Host names may contain dashes: the last one is the separator.
  parseName: (name) => {
    const [, bracketed, plain, port, sequence] = /^(?:\[(.+)\]|(.+)):(\d{1,5})-(\d{10})$/.exec(name) ?? [];
    const ip = bracketed ?? plain;
    return ip === undefined ? undefined : { name, workerId: Number(sequence), instance: { ip, port: Number(port) } };
  },
  nameOf: (workerId, instance) =>
    `${formatInstance(instance)}-${workerId === undefined ? '' : String(workerId).padStart(DIGITS, '0')}`,
  // Our version 1 takes an even ceiling in the next node version for its own unanswered extension. So only releases,
  // which come at least two node versions later, may write an even ceiling.
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

/** A pool: `recycle/workers/<n>` with the data `{"state","ip","port","leaseId","ceiling","write"}`. */
export const PLAIN: NodeLayout = {
  records: 'recycle/workers',
  parseName: (name) =>
    /^(0|[1-9]\d{0,8})$/.test(name) ? { name, workerId: Number(name), instance: undefined } : undefined,
  nameOf: (workerId) => String(workerId),
  normalize: (record) => record,
  encode: ({ instance: { ip, port }, leaseId = '', write, ceiling, free }) =>
    JSON.stringify({ state: free ? 'notuse' : 'inuse', ip, port: String(port), leaseId, ceiling, write }),
  decode: (data) => {
    const { state, ip, port, leaseId, ceiling, write = 0 } = parseObject(data);
    const known = state === 'notuse' || state === 'inuse';
    if (!known || typeof ip !== 'string' || typeof port !== 'string' || typeof leaseId !== 'string') return undefined;
    if (!isTime(ceiling) || !isCount(write)) return undefined;
    const instance = { ip, port: Number(port) };
    return { instance, leaseId: leaseId === '' ? undefined : leaseId, write, ceiling, free: state === 'notuse' };
  },
};
