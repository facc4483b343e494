import {
  formatInstance,
  type Instance,
  LeafError,
  type NewWorker,
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
import type { SqlDatabase, SqlParameter } from '../connections/sql-database';
import { RegistryDatabase, type WorkerDatabase } from './worker-database';
import {
  leaseText,
  type RowWrite,
  storedWorker,
  versionOf,
  type WorkerDialect,
  workerOf,
  type WorkerRow,
} from './worker-row';

/** A table of workers; `id` is the worker ID. */
export interface WorkerTable {
  readonly name: string;
  /** Each `ip:port` has one row, and the table generates the IDs of new rows. */
  readonly fixed: boolean;
}

/** The table of the Java service. */
export const FIXED_WORKERS: WorkerTable = { name: 'leaf_workerid_alloc', fixed: true };
export const POOL_WORKERS: WorkerTable = { name: 'leaf_worker_pool', fixed: false };

/** Name of the document in `leaf_registry`; both tables share it, because they assign the same worker IDs. */
export const DOCUMENT = 'workers';

interface RegistryRow {
  readonly origin: string;
  readonly document: string | null;
}

/** Length of the columns `ip` and `ip_port`. */
const MAX_NAME_LENGTH = 127;
/** Rows of one statement; SQLite allows 500. */
const MAX_ROWS = 256;

/**
 * Workers in a table of an SQL database. `lease_id` contains the lease ID and the number of the write, so that every
 * write changes the row. Each write is a compare-and-set of the row and of its *origin*: the database server, or the
 * cluster if every node has all commits. So a write that was prepared on one server changes nothing on a replica that
 * was promoted meanwhile.
 */
export class SqlWorkerStore extends WorkerStore {
  readonly description: string;

  private readonly database: RegistryDatabase;
  private readonly dialect: WorkerDialect;
  /** SQL that evaluates to the origin; undefined until it was read from the database. */
  private origin: string | undefined;

  constructor(
    database: WorkerDatabase,
    private readonly table: WorkerTable,
  ) {
    super();
    this.database = new RegistryDatabase(database);
    this.dialect = database.dialect.workers;
    this.description = database.target.description;
  }

  async readRegistry(): Promise<StoredRegistry> {
    const [row] = await this.query<RegistryRow>(
      'here.origin, registry.document',
      'LEFT JOIN leaf_registry AS registry ON registry.name = ?',
      [DOCUMENT],
    );
    const { origin = '', document = null } = row ?? {};
    if (document === null) return { document: undefined, origin, version: '' };
    return {
      document: this.readable(parseRegistryDocument(document), 'document', 'leaf_registry'),
      origin,
      version: document,
    };
  }

  async writeRegistry({ origin, version }: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    const { insert, onConflict } = this.dialect;
    const text = JSON.stringify(document);
    const written = await this.write('name', (isOrigin) =>
      version === ''
        ? {
            sql: `${insert} INTO leaf_registry (name, document, update_time)
              SELECT name, document, CURRENT_TIMESTAMP FROM (SELECT ? AS name, ? AS document) AS given
              WHERE ${isOrigin} ${onConflict}`,
            parameters: [DOCUMENT, text, origin],
          }
        : {
            sql: `UPDATE leaf_registry SET document = ?, update_time = CURRENT_TIMESTAMP
              WHERE name = ? AND document = ? AND ${isOrigin}`,
            parameters: [text, DOCUMENT, version, origin],
          },
    );
    return written.length > 0;
  }

  async list(instance?: Instance): Promise<StoredWorker[]> {
    const name = instance && nameOf(instance);
    const rows = await this.rows(name === undefined ? '' : 'WHERE ip_port = ?', name === undefined ? [] : [name]);
    if (name !== undefined) return rows.map((row) => this.readable(workerOf(row), `row ${row.id}`));
    return rows.map(workerOf).filter((worker) => worker !== undefined);
  }

  /** Reads a record. In the fixed table, a row whose `ip_port` was changed is a different record. */
  async read(workerId: number, instance: Instance): Promise<StoredWorker | undefined> {
    const { fixed } = this.table;
    const [row] = await this.rows(
      fixed ? 'WHERE id = ? AND ip_port = ?' : 'WHERE id = ?',
      fixed ? [workerId, nameOf(instance)] : [workerId],
    );
    return row && this.readable(workerOf(row), `row ${row.id}`);
  }

  async create(
    registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined> {
    const { zeroIsNext, raiseNumbering } = this.dialect;
    const { fixed } = this.table;
    if (workerId === 0 && fixed && zeroIsNext) return undefined;
    const [written] = await this.insert(registry, workerId !== undefined, [{ workerId, record }]);
    if (written === undefined) return undefined;
    if (workerId !== undefined && fixed && raiseNumbering !== undefined) {
      await this.database.write((access) => access.run(this.dialect.text(raiseNumbering), [workerId]));
    }
    return storedWorker(workerId ?? Number(written), record, registry.origin);
  }

  /** Creates records; in the fixed table one by one, because the table must learn each number. */
  override async createAll(registry: StoredRegistry, workers: readonly NewWorker[]): Promise<void> {
    if (this.table.fixed) return super.createAll(registry, workers);
    for (let from = 0; from < workers.length; from += MAX_ROWS) {
      await this.insert(registry, true, workers.slice(from, from + MAX_ROWS));
    }
  }

  async replace(read: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    const { origin, lease, name } = versionOf(read);
    const { ip, port } = record.instance;
    const written = await this.write('id', (isOrigin) => ({
      sql: `UPDATE ${this.table.name}
        SET ip = ?, port = ?, ip_port = ?, max_timestamp = ?, lease_id = ?, update_time = CURRENT_TIMESTAMP
        WHERE id = ? AND ip_port = ? AND COALESCE(max_timestamp, 0) = ? AND COALESCE(lease_id, '') = ? AND ${isOrigin}`,
      parameters: [
        ...[ip, String(port), nameOf(record.instance), record.ceiling, leaseText(record)],
        ...[read.workerId, name, read.record.ceiling, lease, origin],
      ],
    }));
    return written.length > 0 ? storedWorker(read.workerId, record, origin) : undefined;
  }

  /** Workers that are in use in the other table of this database. */
  override async otherStrategies(mayBeUsed: (record: WorkerRecord) => boolean): Promise<string | undefined> {
    const { name } = this.table.fixed ? POOL_WORKERS : FIXED_WORKERS;
    const up = (await this.rows('', [], name)).filter((row) => {
      // A row that cannot be parsed counts as one of the Java service.
      const found = workerOf(row) ?? workerOf({ ...row, ip_port: 'unknown:0', lease_id: null });
      return found !== undefined && mayBeUsed(found.record);
    });
    return up.length === 0
      ? undefined
      : `worker IDs in use in the table ${name}: ${up.length}, for example by ${up[0]?.ip_port ?? ''}`;
  }

  override async peers(now: number): Promise<Peer[]> {
    return holdersOf(await this.list(), now);
  }

  override timeSources(): Promise<TimeSource[]> {
    const { now } = this.dialect;
    if (now === undefined) return Promise.resolve([]);
    const ask = async (): Promise<number> => {
      const [row] = await this.database.run((access) =>
        access.run<{ now: number | string }[]>(`SELECT ${now} AS now`, []),
      );
      return Math.round(Number(row?.now));
    };
    return Promise.resolve([{ name: 'the database', ask }]);
  }

  override abort(): Promise<void> {
    return this.database.close();
  }

  override close(): Promise<void> {
    return this.database.close();
  }

  /**
   * Inserts rows, and leaves those that exist as they are.
   *
   * @returns the IDs of the rows that were written; MySQL returns the first one only
   */
  private insert(
    { origin }: StoredRegistry,
    numbered: boolean,
    workers: readonly { readonly workerId: number | undefined; readonly record: WorkerRecord }[],
  ): Promise<readonly unknown[]> {
    const { insert, onConflict, integer } = this.dialect;
    const [id, number] = numbered ? ['id, ', `${integer} AS id, `] : ['', ''];
    const columns = `${id}ip, port, ip_port, max_timestamp, lease_id`;
    const row = `SELECT ${number}? AS ip, ? AS port, ? AS ip_port, ${integer} AS max_timestamp, ? AS lease_id`;
    const parameters = workers.flatMap(({ workerId, record }) => [
      ...(workerId === undefined ? [] : [workerId]),
      ...[record.instance.ip, String(record.instance.port), nameOf(record.instance)],
      ...[record.ceiling, leaseText(record)],
    ]);
    return this.write('id', (isOrigin) => ({
      sql: `${insert} INTO ${this.table.name} (${columns}, create_time, update_time)
        SELECT ${columns}, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP
        FROM (${workers.map(() => row).join(' UNION ALL ')}) AS given WHERE ${isOrigin} ${onConflict}`,
      parameters: [...parameters, origin],
    }));
  }

  private rows(condition: string, parameters: SqlParameter[], table = this.table.name): Promise<WorkerRow[]> {
    const columns = 'here.origin, id, ip_port, max_timestamp, lease_id';
    return this.query(columns, `CROSS JOIN ${table} ${condition} ORDER BY id`, parameters);
  }

  /** Reads rows and their origin in one statement. */
  private query<Row extends { readonly origin: string | null }>(
    columns: string,
    from: string,
    parameters: SqlParameter[],
  ): Promise<Row[]> {
    return this.database.run((access) =>
      this.withOrigin(access, async (origin) => {
        const sql = `SELECT ${columns} FROM (SELECT ${origin} AS origin) AS here ${from}`;
        const rows = await access.run<Row[]>(this.dialect.text(sql), parameters);
        return rows.some((row) => row.origin === null) ? undefined : rows;
      }),
    );
  }

  /** @param statement receives the condition on the origin, and must pass its parameter */
  private write(key: string, statement: (isOrigin: string) => Omit<RowWrite, 'key'>): Promise<readonly unknown[]> {
    return this.database.write((access) =>
      this.withOrigin(access, async (origin) => {
        const write = { ...statement(this.dialect.isOrigin(origin)), key };
        const written = await this.dialect.write(access, write, origin);
        if (written.length > 0) return written;
        const [row] = await access.run<{ origin: string | null }[]>(`SELECT ${origin} AS origin`, []);
        return row?.origin === null ? undefined : written;
      }),
    );
  }

  /**
   * Reads the origin again after a failure, because another server may respond, and when `act` returns undefined,
   * because the role of the server has changed.
   */
  private async withOrigin<T>(access: SqlDatabase, act: (origin: string) => Promise<T | undefined>): Promise<T> {
    try {
      this.origin ??= await this.dialect.askOrigin(access);
      const answer = await act(this.origin);
      if (answer !== undefined) return answer;
      this.origin = await this.dialect.askOrigin(access);
      const second = await act(this.origin);
      if (second !== undefined) return second;
      throw new LeafError(
        'LEAF_STORE_UNAVAILABLE',
        `${this.description} joined or left a cluster during the request; retry it.`,
      );
    } catch (error) {
      this.origin = undefined;
      throw error;
    }
  }

  private readable<T>(value: T | undefined, what: string, table = this.table.name): T {
    if (value !== undefined) return value;
    throw new LeafError(
      'LEAF_DATABASE_UNUSABLE',
      `The ${what} of the table ${table} in ${this.description} cannot be parsed: it was changed outside Leaf. Correct it as described in docs/operations/worker-registry.md#a-record-that-cannot-be-read.`,
    );
  }
}

/** @throws LeafError `LEAF_CONFIG_INVALID` for a name that is longer than the column */
function nameOf(instance: Instance): string {
  const name = formatInstance(instance);
  if (name.length <= MAX_NAME_LENGTH) return name;
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    `The address ${name} of this server has ${name.length} characters; the worker registry supports ${MAX_NAME_LENGTH}. Set the option snowflake.instance.ip to a shorter name.`,
  );
}
