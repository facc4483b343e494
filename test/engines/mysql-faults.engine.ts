import type { DatabasePair } from '../support/servers/database-pair';
import { type MysqlServer, startMysql } from '../support/servers/engines/mysql';
import { startMysqlPair } from '../support/servers/engines/mysql-pair';
import { LossWorld } from './loss-world';
import { recordEngine, recordFault } from './results';
import { versionOf } from './single-server';

const DELAY_S = 120;
/** IDs of each call of a server that takes them in large numbers. */
const LARGE = 500_000;

beforeAll(async () => {
  const server = await startMysql();
  recordEngine('MySQL, a source and a delayed replica', await versionOf(server));
  await server.stop();
});

async function delay(replica: MysqlServer, seconds: number): Promise<void> {
  await replica.query(
    `STOP REPLICA SQL_THREAD; CHANGE REPLICATION SOURCE TO SOURCE_DELAY = ${seconds}; START REPLICA SQL_THREAD`,
  );
}

/** What was received is applied first, as it should be. */
async function promoteWithAll(pair: DatabasePair & { readonly replica: MysqlServer }): Promise<MysqlServer> {
  const { replica } = pair;
  await delay(replica, 0);
  await pair.promote();
  return replica;
}

/** What was received and not applied is thrown away. */
async function promoteAtOnce({ replica }: { readonly replica: MysqlServer }): Promise<MysqlServer> {
  await replica.query('STOP REPLICA; RESET REPLICA ALL; SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF');
  return replica;
}

it.each([
  {
    how: 'what was received applied first',
    promote: promoteWithAll,
    size: undefined,
    gapSteps: 10,
    lost: false,
    twice: false,
  },
  {
    how: 'what was received thrown away',
    promote: promoteAtOnce,
    size: undefined,
    gapSteps: 10,
    lost: true,
    twice: false,
  },
  { how: 'what was received thrown away', promote: promoteAtOnce, size: LARGE, gapSteps: 10, lost: true, twice: true },
  {
    how: 'what was received thrown away',
    promote: promoteAtOnce,
    size: LARGE,
    gapSteps: 1000,
    lost: true,
    twice: false,
  },
])(
  `a promotion with ${DELAY_S} s of delay, $how, calls of $size IDs and a gap of $gapSteps steps`,
  async ({ how, promote, size, gapSteps, lost, twice }) => {
    const pair = await startMysqlPair({ semiSync: true });
    try {
      const url = await pair.primary.createDatabase();
      const world = await LossWorld.start([url], { gapSteps, ...(size !== undefined && { size }) });
      await pair.waitForReplica();
      await delay(pair.replica, DELAY_S);
      await world.progress([0], 50);
      await pair.primary.kill();
      await world.crash();
      const promoted = await promote(pair);
      const now = url.replace(/:\d+\//, `:${promoted.port}/`);
      const loss = await world.count(now);
      await world.goOn([now]);
      const result = await world.end();
      const calls = size === undefined ? '' : `, calls of ${size} IDs`;
      recordFault(
        `kill -9 of the source, promotion, ${how}`,
        `SOURCE_DELAY=${DELAY_S}, failover gap ${gapSteps}${calls}`,
        result,
      );
      expect(loss.rowsLost > 0).toBe(lost);
      expect(result.duplicates > 0).toBe(twice);
    } finally {
      await pair.stop();
    }
  },
);
