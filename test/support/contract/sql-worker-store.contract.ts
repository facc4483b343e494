import type { StoredRegistry, StoredWorker, WorkerRecord } from '@leaf-ids/core';
import { mayBeUsed } from '@leaf-ids/core/internal';
import { FIXED_WORKERS, POOL_WORKERS, type SqlWorkerStore } from '@leaf-ids/persistence';
import { failNextWrite } from '../fakes/lost-answers';
import { type DatabaseHostCase, WorkerTables } from '../servers/worker-databases';
import { workerStoreContract } from './worker-store.contract';

export const INSTANCE = { ip: '10.0.0.7', port: 8080 };
export const RECORD: WorkerRecord = { instance: INSTANCE, leaseId: 'f00', write: 1, ceiling: 5000, free: false };
const ELSEWHERE = 'another server';
const usedAt =
  (now: number) =>
  (record: WorkerRecord): boolean =>
    mayBeUsed(record, now, 0);

/** What each table of workers does as a `WorkerStore`. */
export function workerStoresOf(database: string, tables: () => WorkerTables): void {
  for (const table of [FIXED_WORKERS, POOL_WORKERS]) {
    workerStoreContract(`${table.name} on ${database}`, {
      numbers: table.fixed,
      onePerInstance: table.fixed,
      reset: () => tables().reset(),
      open: () => Promise.resolve(tables().store(table)),
      remove: (what) =>
        tables().rows.query(
          what === 'document' ? 'DELETE FROM leaf_registry' : `DELETE FROM ${table.name} WHERE id = ${what.workerId}`,
        ),
      failNextWrite,
    });
  }
}

/** Workers in the tables of a database, on each of these hosts. */
export function sqlWorkerStoreContract(hosts: readonly DatabaseHostCase[]): void {
  describe.each(hosts)('workers in %s', (name, start) => {
    let tables: WorkerTables;
    beforeAll(async () => (tables = await WorkerTables.create(start)));
    afterAll(() => tables.stop());

    workerStoresOf(name, () => tables);

    describe.each([FIXED_WORKERS, POOL_WORKERS])('in $name', (table) => {
      let store: SqlWorkerStore;
      let registry: StoredRegistry;
      beforeEach(async () => {
        await tables.reset();
        store = tables.store(table);
        registry = await store.readRegistry();
      });
      afterEach(() => store.close());

      it('names the workers in use in the other table', async () => {
        const other = tables.store(table === FIXED_WORKERS ? POOL_WORKERS : FIXED_WORKERS);
        await other.create(registry, RECORD, 7);
        expect(await store.otherStrategies(usedAt(RECORD.ceiling + 1))).toBeUndefined();
        expect(await store.otherStrategies(usedAt(RECORD.ceiling))).toContain(': 1, for example');
        const [held] = await other.list();
        await other.replace(held!, { ...RECORD, write: 2, free: true });
        // Its holder may have used all timestamps up to the ceiling.
        expect(await store.otherStrategies(usedAt(RECORD.ceiling))).toContain(': 1, for example');
        expect(await store.otherStrategies(usedAt(RECORD.ceiling + 1))).toBeUndefined();
        await other.close();
      });

      it('names the workers that a Java server has used within ten of its reports in the other table', async () => {
        const other = tables.store(table === FIXED_WORKERS ? POOL_WORKERS : FIXED_WORKERS);
        await other.create(registry, { ...RECORD, leaseId: undefined, write: 0 }, 7);
        expect(await store.otherStrategies(usedAt(RECORD.ceiling + 30_000))).toContain(': 1, for example');
        expect(await store.otherStrategies(usedAt(RECORD.ceiling + 30_001))).toBeUndefined();
        await other.close();
      });

      it('applies no write that was prepared on another database server', async () => {
        const made = await store.create(registry, RECORD, 7);
        const foreign = { ...registry, origin: ELSEWHERE };
        const document = {
          id: 'a',
          strategy: 'test',
          madeAt: 1,
          layout: 'x',
          highest: -1,
          generation: 1,
          began: 1,
          floor: 1,
        };
        expect(await store.writeRegistry(foreign, { ...document, origin: ELSEWHERE })).toBe(false);
        expect(await store.create(foreign, { ...RECORD, instance: { ...INSTANCE, port: 1 } }, 8)).toBeUndefined();
        const moved: StoredWorker = { ...made!, version: made!.version.replace(registry.origin, ELSEWHERE) };
        expect(moved.version).not.toBe(made!.version);
        expect(await store.replace(moved, { ...RECORD, write: 2 })).toBeUndefined();
        expect(await store.writeRegistry(registry, { ...document, origin: registry.origin })).toBe(true);
        const read = await store.readRegistry();
        expect(await store.writeRegistry({ ...read, origin: ELSEWHERE }, { ...document, origin: 'x' })).toBe(false);
        expect(await store.list()).toEqual([made]);
      });

      it('refuses a document or an own row that cannot be read', async () => {
        const unusable = { code: 'LEAF_DATABASE_UNUSABLE' };
        await store.create(registry, RECORD, 7);
        await tables.rows.query(`UPDATE ${table.name} SET lease_id = 'a.b.c'`);
        expect(await store.list()).toStrictEqual([]);
        await expect(store.list(INSTANCE)).rejects.toMatchObject(unusable);
        await expect(store.read(7, INSTANCE)).rejects.toMatchObject(unusable);
        await tables.rows.query(`INSERT INTO leaf_registry (name, document) VALUES ('workers', '{}')`);
        await expect(store.readRegistry()).rejects.toMatchObject(unusable);
      });

      it('refuses a name that is too long for the column', async () => {
        const instance = { ip: `leaf-0.${'a'.repeat(60)}.${'b'.repeat(60)}.svc`, port: 8080 };
        const invalid = {
          code: 'LEAF_CONFIG_INVALID',
          message: expect.stringContaining('the option snowflake.instance.ip') as string,
        };
        await expect(store.list(instance)).rejects.toMatchObject(invalid);
        await expect(store.create(registry, { ...RECORD, instance }, 7)).rejects.toMatchObject(invalid);
      });

      it('keeps IPv4 and IPv6 addresses', async () => {
        const instance = { ip: 'fe80::1', port: 8080 };
        const made = await store.create(registry, { ...RECORD, instance }, 7);
        expect(await store.list(instance)).toEqual([made]);
        expect(made?.record.instance).toEqual(instance);
      });

      it('lists the servers that are up', async () => {
        const instance = { ...INSTANCE, port: 8081 };
        await store.create(registry, { ...RECORD, free: true }, 7);
        await store.create(registry, { ...RECORD, instance }, 8);
        expect(await store.peers(4999)).toEqual([{ instance: '10.0.0.7:8081', workerId: 8 }]);
        expect(await store.peers(5000)).toStrictEqual([]);
      });

      it('asks a database server for the time', async () => {
        const sources = await store.timeSources();
        expect(sources.map((source) => source.name)).toEqual(name === 'SQLite' ? [] : ['the database']);
        for (const source of sources) expect(Math.abs((await source.ask()) - Date.now())).toBeLessThan(60_000);
      });
    });

    describe('that others have written', () => {
      let store: SqlWorkerStore;
      beforeEach(async () => {
        await tables.reset();
        store = tables.store(FIXED_WORKERS);
      });
      afterEach(() => store.close());

      const put = (lease: string, ceiling = '4000'): Promise<unknown> =>
        tables.rows.query(
          `INSERT INTO leaf_workerid_alloc (ip, port, ip_port, max_timestamp, lease_id) VALUES ('10.0.0.7', '8080', '10.0.0.7:8080', ${ceiling}, ${lease})`,
        );

      it.each([
        ['the Java service', 'NULL', { leaseId: undefined, write: 0, free: false }],
        ['an earlier version', "'f00'", { leaseId: 'f00', write: 0, free: false }],
        ['this version, free', "'f00.12.free'", { leaseId: 'f00', write: 12, free: true }],
      ])('are read and replaced: by %s', async (_, lease, record) => {
        await put(lease);
        const [found] = await store.list(INSTANCE);
        expect(found).toMatchObject({ workerId: 1, record: { ...record, instance: INSTANCE, ceiling: 4000 } });
        const taken = await store.replace(found!, { ...RECORD, write: 13 });
        expect(await store.list()).toEqual([taken]);
        // The Java service writes the time as it is, below our ceiling.
        await tables.rows.query('UPDATE leaf_workerid_alloc SET max_timestamp = 4500');
        expect(await store.replace(taken!, { ...RECORD, write: 14 })).toBeUndefined();
      });

      it('are read without a time', async () => {
        await put('NULL', 'NULL');
        const [found] = await store.list(INSTANCE);
        expect(found?.record.ceiling).toBe(0);
        expect(await store.replace(found!, RECORD)).toBeDefined();
      });

      it('are lost when their address was changed', async () => {
        const made = await store.create(await store.readRegistry(), RECORD, undefined);
        await tables.rows.query("UPDATE leaf_workerid_alloc SET ip_port = '10.0.0.9:8080'");
        expect(await store.read(made!.workerId, INSTANCE)).toBeUndefined();
        expect(await store.replace(made!, { ...RECORD, write: 2 })).toBeUndefined();
      });
    });
  });
}
