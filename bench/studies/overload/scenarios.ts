import { startMariadb } from '../../../test/support/servers/mariadb';
import { TcpProxy } from '../../../test/support/http/tcp-proxy';
import { insertTags, open } from '../segment/database';

/** What is asked of the server, and what it stands on. */
export interface Scenario {
  readonly name: string;
  readonly path: string;
  /** Of the load that finds the peak; each asks again when it is answered. */
  readonly peakConnections: number;
  readonly manyConnections: number;
  readonly env: NodeJS.ProcessEnv;
  readonly stop: () => Promise<void>;
}

const TAG = 'overload';
const BATCH = 10_000;
/** Each statement takes this much longer, in milliseconds. */
const STATEMENT_MS = 200;
/** IDs of a segment of the slow database, whose loads are what sets its peak. */
const SLOW_STEP = 400;
const nothing = (): Promise<void> => Promise.resolve();

export const SCENARIOS: readonly (() => Promise<Scenario>)[] = [singleIds, batches, slowDatabase];

function singleIds(): Promise<Scenario> {
  return Promise.resolve({
    name: 'single IDs',
    path: '/api/snowflake/get/bench',
    // As many as are served: each one makes the server a little slower, overload or not.
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
      // Beside a shared database a server has to be told its worker ID.
      LEAF_LOCAL_WORKERS: '{"*":0}',
    },
    stop: async () => {
      await proxy.stop();
      await mariadb.stop();
    },
  };
}
