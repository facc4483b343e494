import type { RegistryDocument, StoredRegistry, WorkerRecord } from '@leaf-ids/core';
import { connect } from '../../../../test/support/contract/sql-stores';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { sqlite, SQLITE_WORKERS } from '../dialects/sqlite/sqlite';
import { FIXED_WORKERS, POOL_WORKERS, SqlWorkerStore, type WorkerTable } from './sql-worker-store';
import type { WorkerDialect } from './worker-row';

const NOW = 1_700_000_000_000;
const RECORD: WorkerRecord = {
  ...{ instance: { ip: '10.0.0.7', port: 8080 }, leaseId: 'a', write: 1 },
  ...{ ceiling: NOW, free: false },
};
const NEXT: WorkerRecord = { ...RECORD, write: 2, ceiling: NOW + 1 };
const DOCUMENT: RegistryDocument = {
  ...{ id: 'f00', strategy: 'test', madeAt: NOW, layout: '41,10,12@1288834974657', highest: -1, generation: 1 },
  ...{ origin: 'a', began: NOW, floor: 0 },
};

describe('SqlWorkerStore, on a database whose server changes', () => {
  let database: LeafDataSource;
  let store: SqlWorkerStore;
  /** How often the origin was read. */
  let asked: number;
  let closed: number;

  beforeEach(async () => {
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    await execute('CREATE TABLE this_server (name, role, numbering)');
    await execute("INSERT INTO this_server VALUES ('a', 'one', NULL)");
    [asked, closed] = [0, 0];
    store = storeOf(POOL_WORKERS);
  });
  afterEach(() => database.destroy());

  const execute = <Rows>(sql: string): Promise<Rows> => database.query<Rows>(sql);
  function storeOf(table: WorkerTable, more: Partial<WorkerDialect> = {}): SqlWorkerStore {
    const workers: WorkerDialect = {
      ...SQLITE_WORKERS,
      askOrigin: async (access) => {
        asked++;
        const [row] = await access.run<{ role: string }[]>('SELECT role FROM this_server', []);
        return `(SELECT CASE WHEN role = '${row!.role}' THEN name END FROM this_server)`;
      },
      ...more,
    };
    const target = { description: 'the database' };
    const open = (): Promise<LeafDataSource> => Promise.resolve(database);
    const close = (): Promise<void> => {
      closed++;
      return Promise.resolve();
    };
    const dialect = { session: sqlite.session, workers };
    return new SqlWorkerStore({ dialect, target, open, close }, table);
  }
  const promote = (): Promise<unknown> => execute("UPDATE this_server SET name = 'b'");
  const changeRole = (): Promise<unknown> => execute("UPDATE this_server SET role = 'two'");
  const breakTables = (): Promise<unknown> => execute('ALTER TABLE this_server RENAME TO gone');
  const repairTables = (): Promise<unknown> => execute('ALTER TABLE gone RENAME TO this_server');

  it('writes on the server that it has read, and on no other', async () => {
    const registry = await store.readRegistry();
    expect(registry).toEqual({ document: undefined, origin: 'a', version: '' });
    const made = await store.create(registry, RECORD, 7);
    expect(made).toEqual(await store.read(7, RECORD.instance));
    expect(made).toMatchObject({ workerId: 7, record: RECORD });
    await promote();
    expect(await store.writeRegistry(registry, DOCUMENT)).toBe(false);
    expect(await store.create(registry, RECORD, 8)).toBeUndefined();
    await store.createAll(registry, [{ workerId: 9, record: RECORD }]);
    expect(await store.replace(made!, NEXT)).toBeUndefined();
    expect((await store.readRegistry()).origin).toBe('b');
    const found = await store.list();
    expect(found).toMatchObject([{ workerId: 7, record: RECORD }]);
    expect(await store.replace(found[0]!, NEXT)).toMatchObject({ workerId: 7, record: NEXT });
    expect(asked).toBe(1);
  });

  it('writes the document once for each version', async () => {
    const registry = await store.readRegistry();
    expect(await store.writeRegistry(registry, DOCUMENT)).toBe(true);
    expect(await store.writeRegistry(registry, { ...DOCUMENT, generation: 2 })).toBe(false);
    const read = await store.readRegistry();
    expect(read).toEqual({ document: DOCUMENT, origin: 'a', version: JSON.stringify(DOCUMENT) });
    expect(await store.writeRegistry(read, { ...DOCUMENT, generation: 2 })).toBe(true);
    expect(await store.writeRegistry(read, { ...DOCUMENT, generation: 3 })).toBe(false);
    expect((await store.readRegistry()).document).toEqual({ ...DOCUMENT, generation: 2 });
    await promote();
    expect(await store.writeRegistry(await storeOf(POOL_WORKERS).readRegistry(), DOCUMENT)).toBe(true);
  });

  it('replaces a record once for each write', async () => {
    const registry = await store.readRegistry();
    const made = await store.create(registry, RECORD, 7);
    expect(await store.create(registry, NEXT, 7)).toBeUndefined();
    const next = await store.replace(made!, NEXT);
    expect(next).toMatchObject({ workerId: 7, record: NEXT });
    expect(await store.replace(made!, NEXT)).toBeUndefined();
    expect(await store.replace(next!, RECORD)).toMatchObject({ record: RECORD });
    for (const change of ["lease_id = 'x.1'", `max_timestamp = ${NOW + 9}`, "ip_port = 'other:1'"]) {
      const read = await store.read(7, RECORD.instance);
      await execute(`UPDATE leaf_worker_pool SET ${change}`);
      expect(await store.replace(read!, NEXT)).toBeUndefined();
    }
  });

  it('reads its origin again when the role of the server has changed, for a read and for a write', async () => {
    const registry = await store.readRegistry();
    await changeRole();
    expect(await store.create(registry, RECORD, 7)).toMatchObject({ workerId: 7 });
    expect(asked).toBe(2);
    await execute("UPDATE this_server SET role = 'three'");
    expect(await store.list()).toHaveLength(1);
    expect(asked).toBe(3);
    // The compare fails, on a server whose role is the same.
    expect(await store.create(registry, RECORD, 7)).toBeUndefined();
    expect(asked).toBe(3);
  });

  it('refuses calls while the role of the server changes again and again', async () => {
    const never = storeOf(POOL_WORKERS, { askOrigin: () => Promise.resolve('(SELECT NULL)') });
    const message = 'the database joined or left a cluster during the request; retry it.';
    const cause = expect.objectContaining({ message }) as unknown;
    const unreachable = { code: 'LEAF_REGISTRY_UNREACHABLE', cause, retryAfterMs: 1000 };
    await expect(never.readRegistry()).rejects.toMatchObject(unreachable);
    const registry: StoredRegistry = { document: undefined, origin: 'a', version: '' };
    await expect(never.create(registry, RECORD, 7)).rejects.toMatchObject(unreachable);
  });

  it('reads its origin again after a failure', async () => {
    await store.readRegistry();
    await breakTables();
    await expect(store.list()).rejects.toMatchObject({ code: 'LEAF_REGISTRY_UNREACHABLE' });
    await repairTables();
    await promote();
    expect((await store.readRegistry()).origin).toBe('b');
    expect(asked).toBe(2);
  });

  it('creates many records of a pool in few statements, and leaves those that are there', async () => {
    const registry = await store.readRegistry();
    await store.create(registry, NEXT, 300);
    const run = jest.spyOn(database.access, 'run');
    const ids = Array.from({ length: 512 }, (_, workerId) => workerId);
    await store.createAll(
      registry,
      ids.map((workerId) => ({ workerId, record: RECORD })),
    );
    expect(run.mock.calls.filter(([sql]) => sql.startsWith('INSERT'))).toHaveLength(2);
    const found = await store.list();
    expect(found.map(({ workerId }) => workerId)).toEqual(ids);
    expect(found.filter(({ record }) => record.write === 2).map(({ workerId }) => workerId)).toEqual([300]);
    expect(await store.read(300, RECORD.instance)).toMatchObject({ workerId: 300, record: NEXT });
  });

  it('lets the table of the Java service number its rows', async () => {
    const fixed = storeOf(FIXED_WORKERS);
    const registry = await fixed.readRegistry();
    expect(await fixed.create(registry, RECORD, undefined)).toMatchObject({ workerId: 1 });
    expect(await fixed.create(registry, RECORD, undefined)).toBeUndefined();
    const other = { ...RECORD, instance: { ip: '10.0.0.8', port: 8080 } };
    expect(await fixed.create(registry, other, 0)).toMatchObject({ workerId: 0 });
    expect(await fixed.read(0, other.instance)).toMatchObject({ record: other });
    expect(await fixed.read(0, RECORD.instance)).toBeUndefined();
  });

  it('raises the numbering above a number that it was given, and cannot give 0 where that means the next one', async () => {
    const more = { zeroIsNext: true, raiseNumbering: 'UPDATE this_server SET numbering = ?' };
    const numbering = (): Promise<unknown> => execute('SELECT numbering FROM this_server');
    const [fixed, pool] = [storeOf(FIXED_WORKERS, more), storeOf(POOL_WORKERS, more)];
    const registry = await fixed.readRegistry();
    expect(await fixed.create(registry, RECORD, 0)).toBeUndefined();
    expect(await fixed.list()).toStrictEqual([]);
    expect(await pool.create(registry, RECORD, 0)).toMatchObject({ workerId: 0 });
    expect(await numbering()).toEqual([{ numbering: null }]);
    await fixed.create(registry, { ...RECORD, instance: { ip: 'x', port: 1 } }, undefined);
    expect(await numbering()).toEqual([{ numbering: null }]);
    expect(await fixed.create(registry, RECORD, 5)).toMatchObject({ workerId: 5 });
    expect(await numbering()).toEqual([{ numbering: 5 }]);
    const at = (ip: string): WorkerRecord => ({ ...RECORD, instance: { ip, port: 1 } });
    expect(await fixed.create(registry, at('y'), undefined)).toMatchObject({ workerId: 6 });
    expect(await numbering()).toEqual([{ numbering: 5 }]);
    await fixed.createAll(registry, [
      { workerId: 8, record: at('z') },
      { workerId: 9, record: at('zz') },
    ]);
    expect(await numbering()).toEqual([{ numbering: 9 }]);
  });

  it('takes an address as long as its column, and no longer one', async () => {
    const registry = await store.readRegistry();
    const named = (length: number): WorkerRecord => ({
      ...RECORD,
      instance: { ip: 'x'.repeat(length - ':8080'.length), port: 8080 },
    });
    expect(await store.create(registry, named(127), 7)).toBeDefined();
    await expect(store.create(registry, named(128), 8)).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('has 128 characters; the worker registry supports 127') as string,
    });
  });

  it('refuses what it cannot read where it matters, and lists the rest', async () => {
    await execute("INSERT INTO leaf_worker_pool (id, ip, port, ip_port, max_timestamp) VALUES (7, '', '', 'x:1', -1)");
    await store.create(await store.readRegistry(), RECORD, 8);
    await execute("INSERT INTO leaf_registry (name, document) VALUES ('workers', 'broken')");
    const unreadable = (what: string, table: string): object => ({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining(`The ${what} of the table ${table} in the database cannot be parsed`) as string,
    });
    expect(await store.list()).toMatchObject([{ workerId: 8 }]);
    await expect(store.list({ ip: 'x', port: 1 })).rejects.toMatchObject(unreadable('row 7', 'leaf_worker_pool'));
    await expect(store.read(7, RECORD.instance)).rejects.toMatchObject(unreadable('row 7', 'leaf_worker_pool'));
    await expect(store.readRegistry()).rejects.toMatchObject(unreadable('document', 'leaf_registry'));
    expect(await store.list(RECORD.instance)).toMatchObject([{ workerId: 8 }]);
  });

  it('knows the workers in use in the other table, also those that it cannot read', async () => {
    const fixed = storeOf(FIXED_WORKERS);
    const isUsed = ({ ceiling }: WorkerRecord): boolean => ceiling >= NOW;
    expect(await fixed.otherStrategies(isUsed)).toBeUndefined();
    const registry = await store.readRegistry();
    await store.create(registry, { ...RECORD, ceiling: NOW - 1 }, 6);
    expect(await fixed.otherStrategies(isUsed)).toBeUndefined();
    await store.create(registry, RECORD, 7);
    await execute(
      `INSERT INTO leaf_worker_pool (id, ip, port, ip_port, max_timestamp) VALUES (8, '', '', 'broken', ${NOW})`,
    );
    // Nobody has written such a time.
    await execute("INSERT INTO leaf_worker_pool (id, ip, port, ip_port, max_timestamp) VALUES (9, '', '', 'x:1', -1)");
    const found = 'worker IDs in use in the table leaf_worker_pool: 2, for example by 10.0.0.7:8080';
    expect(await fixed.otherStrategies(isUsed)).toBe(found);
    expect(await store.otherStrategies(isUsed)).toBeUndefined();
    expect(await store.peers(NOW - 1)).toHaveLength(1);
  });

  it('asks the database for its time, if that is another clock', async () => {
    expect(await store.timeSources()).toStrictEqual([]);
    const [source] = await storeOf(POOL_WORKERS, { now: '1234.6' }).timeSources();
    expect([source?.name, await source?.ask()]).toEqual(['the database', 1235]);
  });

  it('closes its database', async () => {
    await store.close();
    await store.abort();
    expect(closed).toBe(2);
  });
});
