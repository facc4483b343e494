import { formatInstance, type Instance, type StoredWorker, type WorkerRecord } from '@leaf-ids/core';
import { isCount } from '@leaf-ids/core/internal';
import type { SqlDatabase, SqlParameter } from '../connections/sql-database';

/** A row of a worker table. */
export interface WorkerRow {
  /** The copy of the data that the row was read from. */
  readonly origin: string;
  readonly id: number | string;
  readonly ip_port: string;
  readonly max_timestamp: number | string | null;
  readonly lease_id: string | null;
}

/** The values that the next write compares besides the ceiling; part of the version of a {@link StoredWorker}. */
interface RowVersion {
  readonly origin: string;
  readonly lease: string;
  readonly name: string;
}

/** `<leaseId>.<write>`, followed by `.free` for a released record. An earlier version wrote only the lease ID. */
const LEASE = /^([^.|]*)(?:\.(\d{1,15})(\.free)?)?$/;
const NAME = /^(?:\[([^\]|]+)\]|([^|]+)):(\d{1,5})$/;

/** The text of `lease_id`; NULL in rows of the Java service. */
export function leaseText({ leaseId, write, free }: WorkerRecord): string | null {
  if (write === 0 && !free) return leaseId ?? null;
  return `${leaseId ?? ''}.${write}${free ? '.free' : ''}`;
}

/** @returns undefined when the row cannot be parsed */
export function workerOf({ origin, id, ip_port, max_timestamp, lease_id }: WorkerRow): StoredWorker | undefined {
  const lease = LEASE.exec(lease_id ?? '');
  const instance = instanceOf(ip_port);
  const [workerId, ceiling] = [Number(id), Number(max_timestamp ?? 0)];
  if (lease === null || instance === undefined || !isCount(workerId) || !isCount(ceiling)) return undefined;
  const [, leaseId = '', write = '0', free] = lease;
  const record = { instance, ceiling, write: Number(write), free: free !== undefined };
  return {
    workerId,
    record: { ...record, leaseId: leaseId === '' ? undefined : leaseId },
    version: versionText({ origin, lease: lease_id ?? '', name: ip_port }, ceiling),
  };
}

/** The record after this write on `origin`. */
export function storedWorker(workerId: number, record: WorkerRecord, origin: string): StoredWorker {
  const name = formatInstance(record.instance);
  return { workerId, record, version: versionText({ origin, lease: leaseText(record) ?? '', name }, record.ceiling) };
}

export function versionOf({ version }: StoredWorker): RowVersion {
  const [lease = '', name = '', , ...origin] = version.split('|');
  return { origin: origin.join('|'), lease, name };
}

function versionText({ origin, lease, name }: RowVersion, ceiling: number): string {
  return [lease, name, ceiling, origin].join('|');
}

function instanceOf(name: string): Instance | undefined {
  const [, bracketed, plain, port] = NAME.exec(name) ?? [];
  const ip = bracketed ?? plain;
  return ip === undefined ? undefined : { ip, port: Number(port) };
}

/** A write of one row, with `?` for a parameter. */
export interface RowWrite {
  readonly sql: string;
  /** Includes the origin, at the position of {@link WorkerDialect.isOrigin}. */
  readonly parameters: readonly SqlParameter[];
  /** The key column, whose value is returned. */
  readonly key: string;
}

/** The differences between databases in the statements on workers. */
export interface WorkerDialect {
  /** Converts a statement to the placeholders of the driver. */
  readonly text: (sql: string) => string;
  /**
   * Returns SQL that evaluates, on the server that executes it, to the name of its copy of the data; to NULL once the
   * role of the server has changed.
   */
  readonly askOrigin: (access: SqlDatabase) => Promise<string>;
  /** A condition with one parameter: this copy of the data executes the write. */
  readonly isOrigin: (origin: string) => string;
  /** A placeholder for an integer. */
  readonly integer: string;
  /** Start and end of an INSERT that keeps an existing row. */
  readonly insert: string;
  readonly onConflict: string;
  /** @returns the key of each row that was written */
  readonly write: (access: SqlDatabase, write: RowWrite, origin: string) => Promise<readonly unknown[]>;
  /** Whether inserting 0 into the ID column generates the next ID. */
  readonly zeroIsNext: boolean;
  /** Raises the ID sequence to its parameter after an INSERT with an explicit ID; undefined if the database does so. */
  readonly raiseNumbering: string | undefined;
  /** The server time in Unix milliseconds; undefined if the server uses the clock of this host. */
  readonly now: string | undefined;
}

/** The result row of a write with RETURNING. */
export interface Written {
  readonly written: number | string;
}
