import { createSegmentStore, FIRST_TAG, openDatabase, parseDatabaseUrl } from '@leaf-ids/persistence';
import { systemRandom } from '@leaf-ids/core/internal';
import { clock, FAILOVER } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

it('a database that does not answer any more is closed all the same, and reported', async () => {
  const server = await startMariadb();
  const proxy = await TcpProxy.start(server.port);
  try {
    const url = (await server.createDatabase()).replace(`:${server.port}/`, `:${proxy.port}/`);
    const target = parseDatabaseUrl(url);
    const problems: string[] = [];
    const onCloseProblem = (step: string): void => void problems.push(step);
    const dataSource = await openDatabase(
      { target, migrate: true, firstTag: FIRST_TAG, onCloseProblem },
      clock,
      systemRandom,
    );
    const store = createSegmentStore(dataSource, FAILOVER);
    await until('an allocation', () => store.allocate(FIRST_TAG, 5).catch(() => undefined));
    proxy.blackhole();
    await expect(store.allocate(FIRST_TAG, 5)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    // Bypasses the time limits of the stores.
    dataSource.query('SELECT 1').catch(() => undefined);
    await dataSource.destroy();
    expect(problems).toEqual(['close the database']);
  } finally {
    await proxy.stop();
    await server.stop();
  }
});
