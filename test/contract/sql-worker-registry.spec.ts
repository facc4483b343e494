import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeafError, type WorkerRegistry } from '@leaf/core';
import { type LeafDataSource, parseDatabaseUrl, type WorkerRow, WorkerTable } from '@leaf/persistence';
import { SqlWorkerRegistry } from '@leaf/registry';
import { startMariadb } from '../support/mariadb';
import { startPostgres } from '../support/postgres';
import { clock, connect, lazily } from './sql-stores';
import { type OpenedRegistry, workerRegistryContract } from './worker-registry.contract';

/** Loses a write, or the answer to it. */
class FaultyTable extends WorkerTable {
  nextWrite: 'before' | 'after' | undefined;

  override async write(known: WorkerRow, next: Pick<WorkerRow, 'ceiling' | 'leaseId'>): Promise<boolean> {
    const moment = this.nextWrite;
    this.nextWrite = undefined;
    if (moment === undefined) return super.write(known, next);
    if (moment === 'after') await super.write(known, next);
    throw new LeafError('LEAF_STORE_UNAVAILABLE', 'the answer was lost');
  }
}

interface Storage {
  /** A new, empty database. */
  open(): Promise<string>;
  close(): Promise<void>;
}

function ofServer(start: () => Promise<{ createDatabase(): Promise<string>; stop(): Promise<void> }>): Storage {
  let server: Awaited<ReturnType<typeof start>> | undefined;
  return {
    open: async () => {
      server = await start();
      return server.createDatabase();
    },
    close: async () => server?.stop(),
  };
}

function ofFile(): Storage {
  let directory = '';
  return {
    open: async () => {
      directory = await mkdtemp(join(tmpdir(), 'leaf-workers-'));
      return `sqlite:${join(directory, 'leaf.sqlite')}`;
    },
    close: () => rm(directory, { recursive: true }),
  };
}

describe.each<[string, Storage]>([
  ['MariaDB', ofServer(startMariadb)],
  ['PostgreSQL', ofServer(startPostgres)],
  ['SQLite', ofFile()],
])('workers in %s', (name, storage) => {
  let url: string;
  let rows: LeafDataSource;
  const tables = new Map<WorkerRegistry, FaultyTable>();

  beforeAll(async () => {
    url = await storage.open();
    rows = await connect(parseDatabaseUrl(url));
  });
  afterAll(async () => {
    await rows.destroy();
    await storage.close();
  });

  const MAX_WORKER_ID = 1_000_000;
  function open(instance: number, maxWorkerId = MAX_WORKER_ID): Promise<OpenedRegistry> {
    const table = new FaultyTable(lazily(parseDatabaseUrl(url)));
    const registry = new SqlWorkerRegistry(table, maxWorkerId, clock);
    tables.set(registry, table);
    const holder = { ip: '10.0.0.7', port: 8080 + instance, leaseId: randomBytes(8).toString('hex') };
    return Promise.resolve({ registry, holder, close: () => registry.close() });
  }

  const reset = async (): Promise<void> => {
    await rows.query('DELETE FROM leaf_workerid_alloc');
  };

  workerRegistryContract(`SqlWorkerRegistry on ${name}`, {
    instances: 3,
    stock: true,
    twin: 'takes-over',
    reset,
    open,
    failNextWrite: (registry, moment) => {
      tables.get(registry)!.nextWrite = moment;
    },
  });

  describe('besides', () => {
    beforeEach(reset);
    const opened: OpenedRegistry[] = [];
    afterEach(async () => {
      for (const each of opened.splice(0)) await each.close();
    });

    async function next(instance: number, maxWorkerId?: number): Promise<OpenedRegistry> {
      const one = await open(instance, maxWorkerId);
      opened.push(one);
      return one;
    }

    it('gives many first boots at once workers of their own', async () => {
      const all = await Promise.all(Array.from({ length: 16 }, (_, instance) => next(instance)));
      const claims = await Promise.all(all.map(({ registry, holder }) => registry.acquire(holder, () => 5000)));
      expect(new Set(claims.map(({ workerId }) => workerId)).size).toBe(16);
    });

    it('refuses a worker ID that the layout does not hold', async () => {
      const { registry, holder } = await next(0, 0);
      await expect(registry.acquire(holder, () => 5000)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
    });

    it('uses a row of the Java service, and loses to one that writes it', async () => {
      await rows.query(
        "INSERT INTO leaf_workerid_alloc (ip, port, ip_port, max_timestamp) VALUES ('10.0.0.7', '8080', '10.0.0.7:8080', 4000)",
      );
      const { registry, holder } = await next(0);
      const claim = await registry.acquire(holder, (recorded) => recorded + 10_000);
      expect(claim).toMatchObject({ previousCeiling: 4000, ceiling: 14_000 });
      // It writes the time as it is, below our ceiling.
      await rows.query("UPDATE leaf_workerid_alloc SET max_timestamp = 7000 WHERE ip_port = '10.0.0.7:8080'");
      await expect(registry.extend(claim, 17_000)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
    });

    it('has lost when the row was removed', async () => {
      const { registry, holder } = await next(0);
      const claim = await registry.acquire(holder, () => 5000);
      await reset();
      await expect(registry.extend(claim, 17_000)).rejects.toMatchObject({ code: 'LEAF_LEASE_LOST' });
    });

    it('knows who is up', async () => {
      const [up, down] = [await next(0), await next(1)];
      const claim = await up.registry.acquire(up.holder, () => clock.now() + 60_000);
      const past = await down.registry.acquire(down.holder, () => clock.now() + 60_000);
      await down.registry.release(past, clock.now() - 1);
      expect(await up.registry.peers()).toEqual([{ instance: '10.0.0.7:8080', workerId: claim.workerId }]);
    });

    it('asks a database server for the time', async () => {
      const sources = await (await next(0)).registry.timeSources();
      expect(sources.map((source) => source.name)).toEqual(name === 'SQLite' ? [] : ['the database']);
      for (const source of sources) expect(Math.abs((await source.ask()) - Date.now())).toBeLessThan(60_000);
    });
  });
});
