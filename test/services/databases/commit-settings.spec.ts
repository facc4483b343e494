import { createSegmentStore, openDatabase, parseDatabaseUrl } from '@leaf-ids/persistence';
import { systemRandom } from '@leaf-ids/core/internal';
import { clock, connect, FAILOVER } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import { until } from '../../support/until';

const TAG = 'leaf-segment-test';

/** The first ID after the kill of the server, and the last one before it. */
async function crash(
  url: string,
  server: { kill(): Promise<void>; restart(): Promise<void> },
  settle: () => Promise<unknown>,
): Promise<{ last: bigint; next: bigint }> {
  const target = parseDatabaseUrl(url);
  await (await connect(target)).destroy();
  const before = await connect(target, false);
  await settle();
  const { to: last } = await createSegmentStore(before, FAILOVER).allocate(TAG, 10);
  await server.kill();
  await server.restart();
  await before.destroy();
  const after = await connect(target, false);
  try {
    return { last, next: (await createSegmentStore(after, FAILOVER).allocate(TAG, 1)).from };
  } finally {
    await after.destroy();
  }
}

describe('MariaDB that can lose a commit', () => {
  it.each([
    ['innodb_flush_log_at_trx_commit', ['--innodb-flush-log-at-trx-commit=2'], '2'],
    ['sync_binlog', ['--log-bin=bin', '--sync-binlog=0'], '0'],
    ['wsrep_provider_options', ['--wsrep-provider-options=gcache.size=8M;pc.ignore_sb=true'], 'pc.ignore_sb=true'],
  ])('by %s is refused, unless that is accepted', async (setting, options, value) => {
    const server = await startMariadb(options);
    try {
      const target = parseDatabaseUrl(await server.createDatabase());
      const refusal = {
        code: 'LEAF_DATABASE_UNUSABLE',
        message: expect.stringMatching(`${setting} is ${value}: .*: add ${setting} to the option accept.$`) as string,
      };
      await expect(connect(target)).rejects.toMatchObject(refusal);
      const accepted: string[] = [];
      const dataSource = await openDatabase(
        {
          target,
          migrate: true,
          accept: [setting],
          onAccepted: (problem) => accepted.push(problem),
          onCloseProblem: fail,
        },
        clock,
        systemRandom,
      );
      await createSegmentStore(dataSource, FAILOVER).listTags();
      await dataSource.destroy();
      expect(accepted).toEqual([expect.stringContaining(`${setting} is ${value}`)]);
    } finally {
      await server.stop();
    }
  });

  it('since a moment ago gives no ID over a new connection', async () => {
    const server = await startMariadb();
    try {
      const dataSource = await connect(parseDatabaseUrl(await server.createDatabase()));
      const store = createSegmentStore(dataSource, FAILOVER);
      const { to } = await store.allocate(TAG, 10);
      await server.query('SET GLOBAL innodb_flush_log_at_trx_commit = 0');
      await server.endSessions();
      await expect(store.allocate(TAG, 10)).rejects.toMatchObject({
        code: 'LEAF_STORE_UNAVAILABLE',
        cause: { message: expect.stringContaining('innodb_flush_log_at_trx_commit is 0') as string },
      });
      await server.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
      expect((await store.allocate(TAG, 10)).from).toBe(to + 1n);
      await dataSource.destroy();
    } finally {
      await server.stop();
    }
  });
});

describe('PostgreSQL', () => {
  it('that awaits no commit awaits those of Leaf', async () => {
    const server = await startPostgres();
    try {
      await server.query('ALTER SYSTEM SET synchronous_commit = off');
      await server.query("ALTER SYSTEM SET wal_writer_delay = '10s'");
      await server.query('SELECT pg_reload_conf()');
      const url = await server.createDatabase();
      const { last, next } = await crash(url, server, () => server.query('CHECKPOINT'));
      expect(next).toBe(last + 1n);
    } finally {
      await server.stop();
    }
  });

  it('without fsync is refused', async () => {
    const server = await startPostgres();
    try {
      await server.query('ALTER SYSTEM SET fsync = off');
      await server.query('SELECT pg_reload_conf()');
      const target = parseDatabaseUrl(await server.createDatabase());
      await until(
        'the setting',
        async () => (await server.query("SELECT 1 WHERE current_setting('fsync') = 'off'")).rowCount === 1,
      );
      await expect(connect(target)).rejects.toMatchObject({
        code: 'LEAF_DATABASE_UNUSABLE',
        message: expect.stringContaining('add fsync to the option accept.') as string,
      });
    } finally {
      await server.stop();
    }
  });
});

function fail(step: string, problem: string): void {
  throw new Error(`${step}: ${problem}`);
}
