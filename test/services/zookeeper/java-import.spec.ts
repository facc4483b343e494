import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { startZookeeper, type ZookeeperServer } from '../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';
import { call, json, text } from '../../support/http/http';
import { metric } from '../../support/http/metrics';
import { until } from '../../support/until';
import { openSession } from '../../contract/zk-stores';

const NAME = 'orders';
const WORKER_ID = 7;
const FOREVER = `/snowflake/${NAME}/forever`;
/** Two connection attempts, and the time that an import waits. */
const START_LIMIT_MS = 60_000;

describe('the first start in place of a Java server, while ZooKeeper is away', () => {
  let zookeeper: ZookeeperServer;
  let database: string;
  let directory: string;
  let javaFile: string;
  let server: TestServer | undefined;

  beforeAll(async () => {
    await requireZookeeperClient();
    zookeeper = await startZookeeper();
  });
  afterAll(() => zookeeper.stop());
  beforeEach(async () => {
    database = await zookeeper.createDatabase();
    directory = await makeDataDirectory();
    javaFile = join(directory, NAME, 'leafconf/8080/workerID.properties');
    await mkdir(dirname(javaFile), { recursive: true });
    await writeFile(javaFile, `workerID=${WORKER_ID}`);
  });
  afterEach(async () => {
    await server?.stop();
    server = undefined;
    await removeDataDirectory(directory);
  });

  /** The last report of a Java server. */
  async function makeJavaNode(ip: string): Promise<string> {
    const session = openSession(database);
    const node = `${FOREVER}/${ip}:8080-000000000${WORKER_ID}`;
    await session.ensurePath(FOREVER);
    await session.create(node, JSON.stringify({ ip, port: '8080', timestamp: Date.now() - 1000 }), 'persistent');
    await session.close();
    return node;
  }

  async function dataOf(node: string): Promise<string | undefined> {
    const session = openSession(database);
    try {
      return (await session.getData(node))?.data;
    } finally {
      await session.close();
    }
  }

  async function start(): Promise<TestServer> {
    server = await startTestServer({
      LEAF_NAME: NAME,
      LEAF_SEGMENT_ENABLED: 'false',
      LEAF_SNOWFLAKE_REGISTRY: 'zk_normal',
      LEAF_SNOWFLAKE_OFFLINE: 'local_file',
      LEAF_ZOOKEEPER: database,
      LEAF_ADVERTISE_HOST: '10.0.0.7',
      LEAF_ADVERTISE_PORT: '8080',
      LEAF_DATA_DIR: join(directory, 'data'),
      LEAF_JAVA_WORKER_FILE: javaFile,
      LEAF_SNOWFLAKE_REPORT_MS: '500',
      // Time enough for ZooKeeper to start again on a slow machine.
      LEAF_SNOWFLAKE_HORIZON_MS: '60000',
      LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: '1000',
    });
    return server;
  }

  const issued = async ({ port }: TestServer): Promise<string | undefined> => {
    const { status, body } = await call(port, '/api/snowflake/get/x');
    return status === 200 ? body : undefined;
  };
  const workerOf = async ({ port }: TestServer, id: string): Promise<number> =>
    (await json<{ workerId: number }>(port, `/api/snowflake/decode/${id}`)).workerId;
  const confirmed = async ({ port }: TestServer): Promise<boolean> =>
    (await metric(port, 'leaf_registry_trouble')) === 0;

  it('issues with the worker ID of the Java server, and registers it without a pause when ZooKeeper is back', async () => {
    const node = await makeJavaNode('10.0.0.7');
    await zookeeper.kill();
    const started = await start();
    const first = await until('an ID', () => issued(started), START_LIMIT_MS);
    expect(await workerOf(started, first)).toBe(WORKER_ID);
    await zookeeper.restart();
    let last = BigInt(first);
    await until('the registration', async () => {
      const next = BigInt(await text(started.port, '/api/snowflake/get/x'));
      expect(next).toBeGreaterThan(last);
      last = next;
      return confirmed(started);
    });
    expect(await workerOf(started, String(last))).toBe(WORKER_ID);
    expect(await dataOf(node)).toMatch(/^\{"ip":"10.0.0.7","port":"8080","timestamp":\d{13}\}\s+$/);
  });

  it('gives the worker ID up when ZooKeeper has it for another address', async () => {
    const node = await makeJavaNode('10.0.0.8');
    const before = await dataOf(node);
    await zookeeper.kill();
    const started = await start();
    await until('an ID', () => issued(started), START_LIMIT_MS);
    await zookeeper.restart();
    const refused = await until('the end of the import', async () => {
      const answer = await call(started.port, '/api/snowflake/get/x');
      return answer.status !== 200 && answer;
    });
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'LEAF_NOT_READY' });
    expect(await dataOf(node)).toBe(before);
  });
});
