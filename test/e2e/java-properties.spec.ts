import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RowDataPacket } from 'mysql2/promise';
import { defaultLayout } from '@leaf-ids/core/internal';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { call, json, text } from '../support/http/http';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { problemCode } from '../support/http/problem';
import { ready, SHORT_LEASE } from '../support/servers/readiness';
import { until } from '../support/until';

const IP = '10.0.0.7';
const PORT = 9191;
const PASSWORD = 'p=ä:s#s w!rd';
const GET = '/api/snowflake/get/order';
const SEGMENT = '/api/segment/get/order';
/** Created as by the start-up scripts of the Java service. */
const JAVA_TABLES = [
  `CREATE TABLE leaf_alloc (biz_tag varchar(128) NOT NULL DEFAULT '' PRIMARY KEY, max_id bigint(20) NOT NULL DEFAULT '1',
    step int(11) NOT NULL, description varchar(256) DEFAULT NULL,
    update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP) ENGINE=InnoDB`,
  `CREATE TABLE leaf_workerid_alloc (id bigint(20) NOT NULL AUTO_INCREMENT PRIMARY KEY, ip varchar(127) DEFAULT NULL,
    port varchar(127) DEFAULT NULL, ip_port varchar(127) NOT NULL UNIQUE, max_timestamp bigint(20) DEFAULT NULL,
    create_time timestamp NULL DEFAULT NULL, update_time timestamp NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP)
    ENGINE=InnoDB`,
];

const servers = new BuiltServers();
let mariadb: MariadbServer;
/** Where a server of the Java service would find its tables. */
let jdbcUrl: string;
let database: string;
let directory: string;

beforeAll(async () => {
  [mariadb] = await Promise.all([startMariadb(), ensureBuilt()]);
  await mariadb.query(
    `CREATE USER java@'%' IDENTIFIED BY '${PASSWORD}'; GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON *.* TO java@'%'`,
  );
});
afterAll(() => mariadb.stop());
beforeEach(async () => {
  const url = await mariadb.createDatabase();
  database = url.slice(url.lastIndexOf('/') + 1);
  jdbcUrl = `jdbc:mysql://127.0.0.1:${mariadb.port}/${database}?useUnicode=true&characterEncoding=utf8`;
  directory = await servers.makeDirectory();
});
afterEach(() => servers.end());

function table(sql: string): Promise<RowDataPacket[]> {
  return mariadb.query(`USE ${database}; ${sql}`).then((results) => results.slice(1).flat());
}

/** The worker table, without the times at which its rows were written. */
function workers(): Promise<RowDataPacket[]> {
  return table('SELECT id, ip, port, ip_port, max_timestamp FROM leaf_workerid_alloc ORDER BY id');
}

/** A file as the Java service reads it, `\u00e4` for what ISO-8859-1 would have room for as well. */
async function writeProperties(more: Readonly<Record<string, string>> = {}): Promise<string> {
  const entries = {
    'leaf.name': 'com.example.order-service',
    'leaf.segment.enable': 'true',
    'leaf.jdbc.url': jdbcUrl,
    'leaf.jdbc.username': 'java',
    'leaf.jdbc.password': PASSWORD.replace('ä', '\\u00e4'),
    'leaf.snowflake.enable': 'true',
    'leaf.snowflake.mode': 'mysql',
    'leaf.snowflake.port': String(PORT),
    ...more,
  };
  const lines = Object.entries(entries).map(([key, value]) => `${key} = ${value}\n`);
  const file = join(directory, 'leaf.properties');
  await writeFile(file, `# moved\n${lines.join('')}`, 'latin1');
  return file;
}

function spawn(file: string, env: NodeJS.ProcessEnv = {}): BuiltServer {
  return servers.spawn(directory, { LEAF_PROPERTIES_FILE: file, LEAF_ADVERTISE_HOST: IP, ...SHORT_LEASE, ...env });
}

async function start(file: string, env?: NodeJS.ProcessEnv): Promise<BuiltServer> {
  const server = spawn(file, env);
  await server.listening();
  return server;
}

async function workerOf(server: BuiltServer): Promise<number> {
  await ready(server.port);
  return defaultLayout().decompose(BigInt(await text(server.port, GET))).workerId;
}

it('serves both modes from the file of the Java service', async () => {
  const server = await start(await writeProperties());
  expect(await text(server.port, '/api/segment/get/leaf-segment-test')).toBe('1');
  const workerId = await workerOf(server);
  expect(await workers()).toEqual([
    { id: workerId, ip: IP, port: String(PORT), ip_port: `${IP}:${PORT}`, max_timestamp: expect.any(Number) },
  ]);
  expect(server.stdout + server.stderr).not.toContain(PASSWORD);
  process.stdout.write(`Both modes served; worker ${workerId} is ${IP}:${PORT} of leaf_workerid_alloc\n`);
});

it('lets environment variables win', async () => {
  const server = await start(await writeProperties({ 'leaf.jdbc.password': 'another' }), {
    LEAF_DATABASE_URL: `mysql://java:${encodeURIComponent(PASSWORD)}@127.0.0.1:${mariadb.port}/${database}`,
    LEAF_ADVERTISE_PORT: '9292',
    LEAF_SEGMENT_ENABLED: 'false',
  });
  expect(problemCode(await call(server.port, SEGMENT))).toBe('LEAF_SEGMENT_DISABLED');
  await workerOf(server);
  expect((await workers()).map((row) => String(row.ip_port))).toEqual([`${IP}:9292`]);
});

it('does not count an empty variable', async () => {
  const server = await start(await writeProperties(), { LEAF_ADVERTISE_PORT: '', LEAF_SNOWFLAKE_REGISTRY: '' });
  await workerOf(server);
  expect((await workers()).map((row) => String(row.ip_port))).toEqual([`${IP}:${PORT}`]);
});

it('does not start with a bad file, and says all that is wrong without a secret', async () => {
  const secrets = { 'leaf.jdbc.username': 'hidden-user', 'leaf.jdbc.password': 'hidden-password' };
  const file = await writeProperties({
    ...secrets,
    'leaf.segment.enable': 'yes',
    'leaf.jdbc.url': 'jdbc:mysql://hidden-user:hidden-password@127.0.0.1/leaf',
    'leaf.snowflake.mode': 'redis',
    'leaf.snowflake.port': '99999',
  });
  const server = spawn(file);
  expect(await server.exit()).toEqual({ code: 1, signal: null });
  const [first = '', ...faults] = server.stderr.trimEnd().split('\n');
  expect(first).toBe(`leaf-server cannot start: LEAF_CONFIG_INVALID: The properties file ${file} is invalid:`);
  const named = faults.map((fault) => /^ {2}- (line \d+: [\w.]+) ./.exec(fault)?.[1]).sort();
  expect(named).toEqual([
    'line 3: leaf.segment.enable',
    'line 4: leaf.jdbc.url',
    'line 8: leaf.snowflake.mode',
    'line 9: leaf.snowflake.port',
  ]);
  expect(server.stdout + server.stderr).not.toMatch(/hidden/);
  expect(server.stdout).not.toContain('Listening');
  process.stdout.write(`A bad file:\n${server.stderr}`);
});

it.each([
  ['a file that is not there', () => Promise.resolve(join(directory, 'none.properties')), 'none.properties'],
  ['a file without a database', () => writeProperties({ 'leaf.jdbc.url': '' }), 'leaf.jdbc.url'],
])('does not start with %s', async (_what, write, named) => {
  const server = spawn(await write());
  expect(await server.exit()).toEqual({ code: 1, signal: null });
  expect(server.stderr).toMatch(/^leaf-server cannot start: LEAF_CONFIG_INVALID: /);
  expect(server.stderr).toContain(named);
});

it('shows no secret when the database refuses it', async () => {
  const server = spawn(await writeProperties({ 'leaf.jdbc.password': 'hidden-password' }));
  expect(await server.exit()).toEqual({ code: 1, signal: null });
  expect(server.stderr).toMatch(/^leaf-server cannot start: LEAF_DATABASE_UNUSABLE: /);
  expect(server.stdout + server.stderr).not.toContain('hidden-password');
});

describe('beside servers of the Java service', () => {
  /** How far its clock may be ahead of ours. */
  const LATER_MS = 1500;

  beforeEach(async () => {
    for (const sql of JAVA_TABLES) await table(sql);
  });

  /** The statement that a server of the Java service runs at its start, and every three seconds. */
  async function javaRow(ip: string, port: number, timestamp: number): Promise<void> {
    await table(
      `INSERT INTO leaf_workerid_alloc (ip_port, ip, port, max_timestamp, create_time, update_time)
       VALUES ('${ip}:${port}', '${ip}', '${port}', ${timestamp}, NOW(), NOW())`,
    );
  }

  it('it takes a worker ID of its own and leaves theirs alone', async () => {
    const now = Date.now();
    await javaRow('10.0.0.5', PORT, now);
    await javaRow('10.0.0.6', PORT, now);
    await table("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 5001, 1000)");
    const before = await workers();
    const server = await start(await writeProperties());
    expect(await workerOf(server)).toBe(3);
    expect(await text(server.port, SEGMENT)).toBe('5001');
    expect((await workers()).slice(0, 2)).toEqual(before);

    // The next one of the Java service, with its own statement, and a report of one that is up.
    await javaRow('10.0.0.8', PORT, now);
    await table(`UPDATE leaf_workerid_alloc SET max_timestamp=${now + 3000} WHERE id=1`);
    const [theirs] = await table(
      "UPDATE leaf_alloc SET max_id = max_id + step; SELECT max_id - step AS low, max_id AS above FROM leaf_alloc WHERE biz_tag = 'order'",
    ).then((rows) => rows.slice(-1));
    expect((await workers()).map(({ id, ip_port }) => `${id} ${ip_port}`)).toEqual(
      ['5', '6', '7', '8'].map((last, index) => `${index + 1} 10.0.0.${last}:${PORT}`),
    );
    const { ids } = await json<{ ids: string[] }>(server.port, '/api/segment/batch/order?size=1500');
    expect(ids.map(Number).filter((id) => id >= theirs!.low && id < theirs!.above)).toStrictEqual([]);
    expect(Math.max(...ids.map(Number))).toBeGreaterThanOrEqual(theirs!.above as number);
    expect(await workerOf(server)).toBe(3);
  });

  it('it takes over the row of one that it replaces, and starts after its last report', async () => {
    await javaRow('10.0.0.5', PORT, 1);
    const last = Date.now() + LATER_MS;
    await javaRow(IP, PORT, last);
    const server = await start(await writeProperties());
    const id = await until('an ID', async () => {
      const answer = await call(server.port, GET);
      return answer.status === 200 && BigInt(answer.body);
    });
    const { workerId, timestamp } = defaultLayout().decompose(id);
    expect(workerId).toBe(2);
    expect(timestamp).toBeGreaterThan(last);
    expect((await workers())[1]?.max_timestamp).toBeGreaterThan(last);
  });

  it('it stops issuing when one with its address writes its row', async () => {
    const server = await start(await writeProperties());
    const workerId = await workerOf(server);
    await table(`UPDATE leaf_workerid_alloc SET max_timestamp=${Date.now()} WHERE id=${workerId}`);
    const refused = await until('a refusal', async () => {
      const answer = await call(server.port, GET);
      return answer.status !== 200 && answer;
    });
    expect(problemCode(refused)).toBe('LEAF_LEASE_LOST');
    expect((await call(server.port, '/health/ready')).status).toBe(503);
  });
});
