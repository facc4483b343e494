import { migrations } from '@leaf-ids/migrations';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../support/contract/sql-stores';
import { type PgBouncer, startPgBouncer } from '../support/servers/engines/pgbouncer';
import { postgres18 } from '../support/servers/engines/postgres-18';
import { type PostgresPair, startPostgresPair } from '../support/servers/postgres-pair';
import { type Engine, engineSuite } from './engine-suite';

interface Pooled extends Engine {
  readonly pair: PostgresPair;
  readonly pooler: PgBouncer;
}

async function start(): Promise<Pooled> {
  const pair = await startPostgresPair({ synchronous: true, programs: await postgres18() });
  const pooler = await startPgBouncer(pair.primary);
  return {
    pair,
    pooler,
    version: await pooler.version,
    createDatabase: async () => [await pooler.createDatabase()],
    stop: async () => {
      await pooler.stop();
      await pair.stop();
    },
  };
}

engineSuite({
  name: 'PgBouncer in transaction mode, before a pair of PostgreSQL',
  start,
  disturbances: [
    { name: 'kill -9 and restart of PgBouncer', disturb: ({ pooler }) => pooler.restart() },
    { name: 'kill -9 and restart of the primary', disturb: ({ pair }) => pair.restart() },
    {
      name: 'kill -9 of the primary and promotion of its standby',
      disturb: async ({ pair, pooler }): Promise<void> => {
        await pair.primary.kill();
        await pair.promote();
        await pooler.retarget(pair.primary);
      },
    },
  ],
});

it('keeps no lock of the migrations, whichever session a statement runs in', async () => {
  const engine = await start();
  const { pair, pooler } = engine;
  try {
    for (let round = 0; round < 10; round++) {
      const target = parseDatabaseUrl(await pooler.createDatabase());
      const databases = await Promise.all(Array.from({ length: 6 }, () => connect(target)));
      for (const database of databases) {
        expect(await database.query('SELECT name FROM leaf_migrations')).toHaveLength(migrations.length);
        await database.destroy();
      }
      const { rows } = await pair.primary.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory'");
      expect(rows).toStrictEqual([]);
    }
  } finally {
    await engine.stop();
  }
});
