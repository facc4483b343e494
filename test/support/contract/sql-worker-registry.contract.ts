import { SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { FIXED_WORKERS, POOL_WORKERS, restoreDatabase } from '@leaf-ids/persistence';
import { type DatabaseHostCase, WorkerTables } from '../servers/worker-databases';
import { CLOCK_OFFSET_MS, WorkerProcess } from '../servers/worker-processes';
import { workerRegistryContract } from './worker-registry.contract';

/** The lease protocol over each table of workers. */
export function workerRegistriesOf(database: string, tables: () => WorkerTables): void {
  for (const table of [FIXED_WORKERS, POOL_WORKERS]) {
    workerRegistryContract(`${table.name} on ${database}`, {
      exclusive: table.fixed,
      reset: () => tables().reset(),
      store: () => Promise.resolve(tables().store(table)),
      remove: (workerId) => tables().remove(table, workerId),
    });
  }
}

/** The lease protocol over the tables of workers, on each of these hosts. */
export function sqlWorkerRegistryContract(hosts: readonly DatabaseHostCase[]): void {
  describe.each(hosts)('registries in %s', (name, start) => {
    let tables: WorkerTables;
    beforeAll(async () => (tables = await WorkerTables.create(start)));
    afterAll(() => tables.stop());

    workerRegistriesOf(name, () => tables);

    it('lose a worker whose row the Java service has written', async () => {
      await tables.reset();
      const [store, clock] = [tables.store(FIXED_WORKERS), new FakeClock()];
      const process = new WorkerProcess(store, clock, { exclusive: true, port: 8080 }, {});
      await process.acquire();
      expect(await process.extend()).toBe(true);
      await tables.rows.query(`UPDATE leaf_workerid_alloc SET max_timestamp = ${clock.now()}`);
      await expect(process.extend()).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
      await store.close();
    });

    it('have a new generation of the same layout after `leaf-server restore`: newcomers wait for the grace', async () => {
      await tables.reset();
      const [store, clock] = [tables.store(POOL_WORKERS), new FakeClock()];
      const open = (port: number, layout: string): WorkerProcess =>
        new WorkerProcess(store, clock, { exclusive: false, port }, { layout });
      const running = open(8080, '41,10,12');
      await running.acquire();
      const gap = { steps: 10, least: 1000 };
      const options = { url: tables.url, migrate: false, gap, issued: new Map(), dryRun: false };
      expect(await restoreDatabase(options, new SystemClock(), systemRandom)).toMatchObject({ registry: true });
      await expect(open(8081, '40,10,13').acquire()).rejects.toMatchObject({ code: 'LEAF_LAYOUT_MISMATCH' });
      const newcomer = open(8082, '41,10,12');
      await newcomer.acquire();
      expect(newcomer.waited).toBe(3 * 3000 + CLOCK_OFFSET_MS + 1);
      expect((await store.readRegistry()).document?.generation).toBe(2);
      expect(await running.extend()).toBe(true);
      await store.close();
    });

    it('give out a renumbered row only once its old worker ID can no longer be in use', async () => {
      await tables.reset();
      const [store, clock] = [tables.store(FIXED_WORKERS), new FakeClock()];
      const process = new WorkerProcess(store, clock, { exclusive: true, port: 8080 }, {});
      await process.acquire();
      await tables.reset();
      await tables.rows.query("INSERT INTO leaf_workerid_alloc (id, ip_port) VALUES (77, '10.0.0.7:8080')");
      expect(await process.extend()).toBe(false);
      expect((await process.acquire()).workerId).toBe(77);
      await store.close();
    });
  });
}
