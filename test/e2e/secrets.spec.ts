import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { call, text } from '../support/http/http';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { until } from '../support/until';
import { startZookeeper, type ZookeeperServer } from '../support/servers/zookeeper';
import { requireZookeeperClient } from '../support/servers/zookeeper-client';

/** With a character that a URL has to encode: both spellings must stay hidden. */
const DATABASE_PASSWORD = 'db-P@ss-7f3a9c';
const ZOOKEEPER_PASSWORD = 'zk-Pass-51b0de';
const ADMIN_TOKEN = 'admin-token-c4d2a8e6';
const CLUSTER_TOKEN = 'cluster-token-8e1d4b7a';
const TRACE_KEY = 'trace-Key-90ab12';
const SECRETS = [DATABASE_PASSWORD, ZOOKEEPER_PASSWORD, ADMIN_TOKEN, CLUSTER_TOKEN, TRACE_KEY];
const LIMIT_MS = 40_000;

const servers = new BuiltServers();
let mariadb: MariadbServer;
let zookeeper: ZookeeperServer;

beforeAll(async () => {
  await ensureBuilt();
  await requireZookeeperClient();
  [mariadb, zookeeper] = await Promise.all([startMariadb(), startZookeeper()]);
  await mariadb.query(`CREATE USER leaf IDENTIFIED BY '${DATABASE_PASSWORD}'; GRANT ALL ON *.* TO leaf`);
});

afterEach(() => servers.end());
afterAll(() => Promise.all([mariadb.stop(), zookeeper.stop()]));

/** A secret as it is, and as it may have been written on the way. */
function spellings(secret: string): string[] {
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), JSON.stringify(secret)];
}

function expectNoSecret(what: string): void {
  for (const secret of SECRETS.flatMap(spellings)) expect(what).not.toContain(secret);
}

async function databaseUrl(password = DATABASE_PASSWORD): Promise<string> {
  const url = await mariadb.createDatabase();
  return url.replace('root@', `leaf:${encodeURIComponent(password)}@`);
}

async function spawn(env: NodeJS.ProcessEnv): Promise<BuiltServer> {
  return servers.spawn(await servers.makeDirectory(), {
    LEAF_LOG_LEVEL: 'debug',
    LEAF_ADMIN_TOKEN: `ops:${ADMIN_TOKEN}`,
    LEAF_CLUSTER_TOKEN: CLUSTER_TOKEN,
    LEAF_ZOOKEEPER_AUTH: `digest:leaf:${ZOOKEEPER_PASSWORD}`,
    ...env,
  });
}

describe('a running server', () => {
  it.each(['database', 'mysql', 'zk_normal', 'zk_recycle'])(
    'with the registry %s tells no secret, in its log or over HTTP',
    async (registry) => {
      const server = await spawn({
        LEAF_SNOWFLAKE_REGISTRY: registry,
        LEAF_DATABASE_URL: await databaseUrl(),
        LEAF_ZOOKEEPER: await zookeeper.createDatabase(),
      });
      const port = await server.listening();
      await text(port, '/api/segment/get/leaf-segment-test');
      const paths = ['/', '/metrics', '/health/ready', '/health/startup', '/api/tags', '/api/tags/x', '/docs'];
      const monitor = ['/api/monitor/segments', '/api/monitor/snowflake', '/api/monitor/server', '/cache', '/db'];
      for (const path of [...paths, ...monitor, '/api/cluster', '/api/cluster/workers', '/openapi.json']) {
        const { headers, body } = await call(port, path);
        expectNoSecret(JSON.stringify(headers) + body);
      }
      const authorized = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const created = { method: 'POST', headers: authorized, body: '{"tag":"order","step":10}' };
      expect((await call(port, '/api/tags', created)).status).toBe(201);
      const refused = await call(port, '/api/tags', {
        ...created,
        headers: { ...authorized, authorization: `Bearer ${ADMIN_TOKEN}x` },
      });
      expect(refused.status).toBe(401);
      expectNoSecret(refused.body);
      server.signal('SIGTERM');
      await server.exit();
      expect(server.stdout).toContain('"context":"Audit"');
      expectNoSecret(server.stdout + server.stderr);
    },
  );
});

describe('a server that does not start', () => {
  async function outputOfFailure(env: NodeJS.ProcessEnv): Promise<string> {
    const server = await spawn(env);
    await until('end of the process', () => !server.running, LIMIT_MS);
    expect((await server.exit()).code).toBe(1);
    return server.stdout + server.stderr;
  }

  it('because of the wrong password does not tell it', async () => {
    const other = 'wrong-Pass-22';
    const output = await outputOfFailure({
      LEAF_SNOWFLAKE_REGISTRY: 'mysql',
      LEAF_DATABASE_URL: (await databaseUrl(other)).replace('mysql:', 'mariadb:'),
    });
    expect(output).toContain('LEAF_DATABASE_UNUSABLE');
    expect(output).not.toContain(other);
    expectNoSecret(output);
  });

  it('because of settings that are wrong does not show them', async () => {
    const wrong = {
      LEAF_DATABASE_URL: `mysql://leaf:${encodeURIComponent(DATABASE_PASSWORD)}@db:3306/leaf?unknown=1`,
      LEAF_DATABASE_URLS: `{"a":"mysql://leaf:${DATABASE_PASSWORD}@db/leaf"`,
      LEAF_ZOOKEEPER_AUTH: `basic:leaf:${ZOOKEEPER_PASSWORD}`,
      LEAF_ADMIN_TOKEN: `ops:${ADMIN_TOKEN}@never`,
      OTEL_EXPORTER_OTLP_HEADERS: `key: ${TRACE_KEY}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `ftp://leaf:${TRACE_KEY}@collector`,
    };
    const output = await outputOfFailure(wrong);
    for (const name of Object.keys(wrong)) expect(output).toContain(name);
    expectNoSecret(output);
  });

  it('while its database is away names the database without the password', async () => {
    const port = 9;
    const server = await spawn({
      LEAF_LOCAL_WORKERS: '{"*":0}',
      LEAF_DATABASE_URL: `mysql://leaf:${encodeURIComponent(DATABASE_PASSWORD)}@127.0.0.1:${port}/leaf`,
    });
    await until('warning', () => server.stdout.includes(`127.0.0.1:${port}`));
    expectNoSecret(server.stdout + server.stderr);
  });

  it('while several databases are away names each, on any of their kinds', async () => {
    const schemes = ['mysql', 'mariadb', 'postgres'];
    const tellsAll = async (scheme: string): Promise<void> => {
      const url = `${scheme}://leaf:${encodeURIComponent(DATABASE_PASSWORD)}@127.0.0.1`;
      const urls = { first: `${url}:9/leaf`, second: `${url}:11/leaf?sslmode=require` };
      const server = await spawn({ LEAF_LOCAL_WORKERS: '{"*":0}', LEAF_DATABASE_URLS: JSON.stringify(urls) });
      for (const name of Object.keys(urls)) {
        const word = new RegExp(`${name}\\W+is not available yet`);
        await until(`a word of the ${name}, ${scheme}`, () => word.test(server.stdout), LIMIT_MS);
      }
      expect(await server.exit()).toEqual({ code: 1, signal: null });
      for (const end of [':9/leaf', ':11/leaf']) expect(server.stdout + server.stderr).toContain(end);
      expectNoSecret(server.stdout + server.stderr);
    };
    await Promise.all(schemes.map(tellsAll));
  });

  it('whose collector of traces is away names it without its key', async () => {
    const server = await spawn({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://leaf:${TRACE_KEY}@127.0.0.1:9`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${TRACE_KEY}`,
    });
    await text(await server.listening(), '/api/segment/batch/leaf-segment-test');
    await until('a word of it', () => server.stdout.includes('Traces are lost'), LIMIT_MS);
    server.signal('SIGTERM');
    await server.exit();
    expect(server.stdout).toContain('127.0.0.1:9');
    expectNoSecret(server.stdout + server.stderr);
  });

  it('while ZooKeeper is away names it without the credentials', async () => {
    const server = await spawn({
      LEAF_SEGMENT_ENABLED: 'false',
      LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle',
      LEAF_ZOOKEEPER: '127.0.0.1:9',
    });
    await until('warning', () => server.stdout.includes('127.0.0.1:9'), LIMIT_MS);
    expectNoSecret(server.stdout + server.stderr);
  });
});
