import { PLAIN_TAG } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import {
  createSegmentStore,
  type DatabaseTarget,
  openDatabase,
  FIXED_WORKERS,
  parseDatabaseUrl,
  SqlWorkerStore,
} from '@leaf-ids/persistence';
import { migrations } from '@leaf-ids/migrations';
import { clock, connect, FAILOVER, lazily } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import type { PrivateServer } from '../../support/servers/private-server';
import { until } from '../../support/until';

const SERVERS = 20;

interface DatabaseServer extends PrivateServer {
  createDatabase(): Promise<string>;
}

interface Case {
  readonly name: string;
  readonly start: () => Promise<DatabaseServer>;
  /** Locks the table of migrations. */
  readonly lock: readonly string[];
  readonly unlock: string;
}

describe.each<Case>([
  { name: 'MariaDB', start: startMariadb, lock: ['LOCK TABLES leaf_migrations WRITE'], unlock: 'UNLOCK TABLES' },
  { name: 'PostgreSQL', start: startPostgres, lock: ['BEGIN', 'LOCK TABLE leaf_migrations'], unlock: 'ROLLBACK' },
])('$name, empty', ({ start, lock, unlock }) => {
  let server: DatabaseServer;
  let target: DatabaseTarget;
  beforeAll(async () => (server = await start()));
  afterAll(() => server.stop());
  beforeEach(async () => (target = parseDatabaseUrl(await server.createDatabase())));

  it(`has one schema and one first tag after ${SERVERS} servers started at once`, async () => {
    const connections = await Promise.all(Array.from({ length: SERVERS }, () => connect(target)));
    try {
      for (const connection of connections) {
        expect(await connection.query('SELECT name FROM leaf_migrations')).toHaveLength(migrations.length);
        expect(await connection.query('SELECT biz_tag FROM leaf_alloc')).toHaveLength(1);
      }
      const stores = connections.map((connection) => createSegmentStore(connection, FAILOVER));
      const ranges = await Promise.all(stores.map((store) => store.allocate('leaf-segment-test', undefined)));
      const starts = ranges.map(({ from }) => Number(from)).sort((a, b) => a - b);
      expect(starts).toEqual(Array.from({ length: SERVERS }, (_, n) => 1 + 2000 * n));
    } finally {
      await Promise.all(connections.map((connection) => connection.destroy()));
    }
  });

  it('uses a table of the Java service as it is', async () => {
    const connection = await connect(target, false);
    try {
      await connection.query(`CREATE TABLE leaf_alloc (
        biz_tag varchar(128) NOT NULL DEFAULT '' PRIMARY KEY, max_id bigint NOT NULL DEFAULT 1, step int NOT NULL,
        description varchar(256) DEFAULT NULL, update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP)`);
      await connection.query(
        'CREATE TABLE leaf_workerid_alloc (id bigint PRIMARY KEY, ip varchar(127), port varchar(127), ' +
          'ip_port varchar(127) NOT NULL UNIQUE, max_timestamp bigint, create_time timestamp NULL, update_time timestamp NULL)',
      );
      await connection.query("INSERT INTO leaf_workerid_alloc (id, ip_port, max_timestamp) VALUES (7, 'a:1', 5)");
      await connection.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('mine', 7, 3)");
      const migrated = await connect(target);
      const store = createSegmentStore(migrated, FAILOVER);
      expect(await store.listTags()).toEqual([{ tag: 'mine', kind: PLAIN_TAG }]);
      expect(await store.allocate('mine', undefined)).toEqual({ from: 7n, to: 9n, step: 3 });
      const [worker] = await new SqlWorkerStore(lazily(target), FIXED_WORKERS).list();
      expect(worker).toMatchObject({ workerId: 7, record: { ceiling: 5, leaseId: undefined, write: 0 } });
      await migrated.destroy();
    } finally {
      await connection.destroy();
    }
  });

  it('that does not answer yet is waited for', async () => {
    await server.kill();
    const connecting = connect(target);
    await server.restart();
    const connection = await connecting;
    expect(await connection.query('SELECT biz_tag FROM leaf_alloc')).toHaveLength(1);
    await connection.destroy();
  });

  it('that does not answer a statement in time is waited for', async () => {
    const first = await connect(target);
    const holder = first.createQueryRunner();
    for (const statement of lock) await holder.query(statement);
    const problems: string[] = [];
    const onRetry = (problem: string): void => void problems.push(problem);
    const onCloseProblem = (): void => undefined;
    const opening = openDatabase({ target, migrate: true, onRetry, onCloseProblem }, clock, systemRandom);
    await Promise.race([opening, until('a try that took too long', () => problems.length > 0)]);
    await holder.query(unlock);
    await holder.release();
    const connection = await opening;
    expect(problems[0]).toMatch(/timeout|max_statement_time/);
    expect(await connection.query('SELECT name FROM leaf_migrations')).toHaveLength(migrations.length);
    await connection.destroy();
    await first.destroy();
  });
});
