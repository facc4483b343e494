import { LeafError } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { FIXED_WORKERS, parseDatabaseUrl, POOL_WORKERS, SqlWorkerStore } from '@leaf-ids/persistence';
import { connect, lazily } from '../../support/contract/sql-stores';
import type { DatabasePair } from '../../support/servers/database-pair';
import { startMariadbPair } from '../../support/servers/mariadb-pair';
import { startPostgresPair } from '../../support/servers/postgres-pair';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { WorkerProcess } from '../../support/servers/worker-processes';

interface Pair extends DatabasePair {
  readonly primary: DatabasePair['primary'] & { readonly port: number; createDatabase(): Promise<string> };
}

const PAIRS: readonly (readonly [string, () => Promise<Pair>])[] = [
  ['MariaDB', () => startMariadbPair({ semiSync: false })],
  ['PostgreSQL', () => startPostgresPair({ synchronous: false })],
];

/** A report, repeated while the connections of before the failover break. */
async function report(process: WorkerProcess): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      expect(await process.extend()).toBe(true);
      return;
    } catch (error) {
      if (!(error instanceof LeafError) || error.code !== 'LEAF_REGISTRY_UNREACHABLE' || attempt === 20) throw error;
    }
  }
}

describe.each(PAIRS)('an asynchronous failover of %s', (_, start) => {
  describe.each([FIXED_WORKERS, POOL_WORKERS])('with workers in $name', (table) => {
    let pair: Pair;
    let proxy: TcpProxy;
    let url: string;
    const clock = new FakeClock();
    const stores: SqlWorkerStore[] = [];

    beforeAll(async () => {
      pair = await start();
      url = await pair.primary.createDatabase();
      await (await connect(parseDatabaseUrl(url))).destroy();
      proxy = await TcpProxy.start(pair.primary.port);
      url = url.replace(`:${pair.primary.port}/`, `:${proxy.port}/`);
    });
    afterAll(async () => {
      for (const store of stores) await store.close();
      await proxy.stop();
      await pair.stop();
    });

    function open(port: number): WorkerProcess {
      const store = new SqlWorkerStore(lazily(parseDatabaseUrl(url)), table);
      stores.push(store);
      return new WorkerProcess(store, clock, { exclusive: table.fixed, port }, {});
    }

    it('gives no worker twice, and takes none from its holder', async () => {
      const [old, lost, newcomer] = [open(1), open(2), open(3)];
      await old.acquire();
      await pair.waitForReplica();
      await pair.stopReplication();
      // Lost in the failover: the row of one, the report of the other.
      await lost.acquire();
      await clock.advance(3000);
      for (const each of [old, lost]) await report(each);
      const [ids, before] = [[old.claim.workerId, lost.claim.workerId], await lost.store.readRegistry()];
      await pair.primary.kill();
      await pair.promote();
      proxy.retarget(pair.primary.port);

      newcomer.onWait = async () => {
        for (const each of [old, lost]) await report(each);
      };
      await newcomer.acquire();
      expect([old.claim.workerId, lost.claim.workerId]).toEqual(ids);
      expect(ids).not.toContain(newcomer.claim.workerId);
      for (const each of [old, lost, newcomer]) await report(each);
      expect(await newcomer.store.list()).toHaveLength(3);
      const { document } = await newcomer.store.readRegistry();
      expect(document).toMatchObject({ id: before.document!.id, generation: 2 });
      // What was prepared before the failover changes nothing after it.
      expect(await newcomer.store.writeRegistry({ ...before, version: JSON.stringify(document) }, document!)).toBe(
        false,
      );
      const record = { ...lost.holder.record(clock.now()), instance: { ip: '10.0.0.8', port: 1 } };
      expect(await newcomer.store.create(before, record, 500)).toBeUndefined();
    });
  });
});
