import { postgres18 } from '../support/servers/engines/postgres-18';
import { type PostgresPair, startPostgresPair } from '../support/servers/postgres-pair';
import { startPostgres } from '../support/servers/postgres';
import { until } from '../support/until';
import { LossWorld } from './loss-world';
import { recordEngine, recordFault } from './results';
import { versionOf } from './single-server';

beforeAll(async () => {
  const server = await startPostgres(await postgres18());
  recordEngine('PostgreSQL, a primary and its standby', await versionOf(server));
  await server.stop();
});

/** The standby gets nothing more, and the primary is not told. */
async function endStream({ replica }: PostgresPair): Promise<void> {
  await replica.query("ALTER SYSTEM SET primary_conninfo = ''");
  await replica.query('SELECT pg_reload_conf()');
  await until('end of the stream', async () => {
    const { rows } = await replica.query('SELECT 1 FROM pg_stat_wal_receiver');
    return rows.length === 0;
  });
}

interface Level {
  readonly synchronous: boolean;
  readonly level: string;
  /** Whether a commit waits for the standby. */
  readonly waits: boolean;
}

const LEVELS: readonly Level[] = [
  { synchronous: false, level: 'on', waits: false },
  { synchronous: true, level: 'off', waits: false },
  { synchronous: true, level: 'local', waits: false },
  { synchronous: true, level: 'remote_write', waits: true },
  { synchronous: true, level: 'on', waits: true },
  { synchronous: true, level: 'remote_apply', waits: true },
];
const CASES = LEVELS.flatMap((level) => [
  { ...level, cut: false },
  { ...level, cut: true },
]);

it.each(CASES)(
  'gives no ID twice after a promotion (synchronous_commit=$level, synchronous standby: $synchronous, stream cut before: $cut)',
  async ({ synchronous, level, waits, cut }) => {
    const pair = await startPostgresPair({ synchronous, programs: await postgres18() });
    try {
      const url = await pair.primary.createDatabase();
      await pair.primary.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = ${level}`);
      const world = await LossWorld.start([url]);
      await world.progress([0], 50);
      if (cut) {
        await endStream(pair);
        // Of Leaf alone: it never commits with `off`, so that its commits wait where those of others do not.
        await (waits || level === 'off' ? world.refusals() : world.progress([0], 50));
      }
      await pair.primary.kill();
      await world.crash();
      await pair.promote();
      const now = url.replace(/:\d+\//, `:${pair.primary.port}/`);
      const loss = await world.count(now);
      await world.goOn([now]);
      const result = await world.end();
      const standby = synchronous ? '*' : "''";
      const kill = 'kill -9 of the primary, promotion';
      recordFault(
        cut ? `the standby has lost its stream; ${kill}` : kill,
        `synchronous_commit=${level}, synchronous_standby_names=${standby}`,
        result,
      );
      if (waits) expect(loss).toMatchObject({ rowsLost: 0, updatesLost: 0 });
      if (cut && !waits) expect(loss.rowsLost).toBeGreaterThan(0);
      expect(result.moves).toEqual([expect.stringContaining('timeline')]);
      expect(result.duplicates).toBe(0);
    } finally {
      await pair.stop();
    }
  },
);
