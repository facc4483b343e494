import { startMariadb } from '../../../test/support/servers/mariadb';
import { TcpProxy } from '../../../test/support/http/tcp-proxy';
import { insertTags, open } from '../segment/database';

/** A request path and the settings of the server. */
export interface Scenario {
  readonly name: string;
  readonly path: string;
  /** Connections of the closed loop that measures the peak. */
  readonly peakConnections: number;
  readonly manyConnections: number;
  readonly env: NodeJS.ProcessEnv;
  readonly stop: () => Promise<void>;
}

const TAG = 'overload';
const BATCH = 10_000;
/** Added latency of each statement, in milliseconds. */
const STATEMENT_MS = 200;
/** Segment size with the slow database, where loading segments is the bottleneck. */
const SLOW_STEP = 400;
const nothing = (): Promise<void> => Promise.resolve();

export const SCENARIOS: readonly (() => Promise<Scenario>)[] = [singleIds, batches, slowDatabase];

function singleIds(): Promise<Scenario> {
  return Promise.resolve({
    name: 'single IDs',
    path: '/api/snowflake/get/bench',
    // As many connections as the server accepts, because each connection slows it down, even without overload.
    peakConnections: 1000,
    manyConnections: 1100,
    env: {},
    stop: nothing,
  });
}

function batches(): Promise<Scenario> {
  return Promise.resolve({
    name: `batches of ${BATCH}`,
    path: `/api/segment/batch/leaf-segment-test?size=${BATCH}`,
    peakConnections: 4,
    manyConnections: 900,
    env: {},
    stop: nothing,
  });
}

async function slowDatabase(): Promise<Scenario> {
  const mariadb = await startMariadb();
  const url = await mariadb.createDatabase();
  const database = await open(url);
  await insertTags(database, [TAG], SLOW_STEP);
  await database.dataSource.destroy();
  const proxy = await TcpProxy.start(mariadb.port);
  proxy.delay(STATEMENT_MS / 2);
  return {
    name: 'slow database',
    path: `/api/segment/get/${TAG}`,
    peakConnections: 64,
    manyConnections: 900,
    env: {
      LEAF_DATABASE_URL: url.replace(`:${mariadb.port}/`, `:${proxy.port}/`),
      LEAF_SEGMENT_MAX_STEP: String(SLOW_STEP),
      // A server with a shared database needs an explicit worker ID.
      LEAF_LOCAL_WORKERS: '{"*":0}',
    },
    stop: async () => {
      await proxy.stop();
      await mariadb.stop();
    },
  };
}
