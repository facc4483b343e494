import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { LeafErrorCode } from '@leaf-ids/core';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { SteppedClock } from '../support/servers/faketime';
import { freePort } from '../support/free-port';
import { call, json, text } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const LOCAL = { LEAF_SNOWFLAKE_REGISTRY: 'local' };
const servers = new BuiltServers();
/** What outlives the single tests. */
const lasting = new BuiltServers();
/** A database that a server has used. */
let goodDatabase: string;

beforeAll(async () => {
  await ensureBuilt();
  const directory = await lasting.makeDirectory();
  const server = await lasting.start(directory);
  await text(server.port, `/api/segment/batch/${TAG}?size=5000`);
  server.signal('SIGTERM');
  await server.exit();
  goodDatabase = join(directory, 'leaf.sqlite');
});

afterEach(() => servers.end());
afterAll(() => lasting.end());

/** Every file below a directory with its content. */
async function contents(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, (await readFile(file)).toString('base64')] as const)),
  );
}

/** Checks that the start failed with one message of this code, and returns the message. */
async function fault(server: BuiltServer, code: LeafErrorCode): Promise<string> {
  expect(await server.exit()).toEqual({ code: 1, signal: null });
  const [first = '', ...more] = server.stderr.replace(/\n$/, '').split('\n');
  expect(first).toMatch(new RegExp(`^leaf-server cannot start: ${code}: .`));
  expect(more.filter((line) => !line.startsWith('  - '))).toStrictEqual([]);
  expect(server.stdout).not.toContain('"level":"error"');
  expect(server.stdout).not.toContain('Listening');
  return server.stderr;
}

/** Checks that the server issues segment IDs, and refuses snowflake IDs with this code; returns the reason. */
async function withoutWorker({ port }: BuiltServer, code: LeafErrorCode): Promise<string> {
  expect(await text(port, `/api/segment/get/${TAG}`)).toMatch(/^[1-9]\d*$/);
  const refused = await call(port, '/api/snowflake/get/order');
  expect([refused.status, problemCode(refused)]).toEqual([503, code]);
  const probes = ['', '/segment', '/snowflake'].map((mode) => call(port, `/health/ready${mode}`));
  expect((await Promise.all(probes)).map(({ status }) => status)).toEqual([503, 200, 503]);
  return (JSON.parse(refused.body) as { detail: string }).detail;
}

async function expectServing(server: BuiltServer): Promise<void> {
  expect(await text(server.port, `/api/segment/get/${TAG}`)).toMatch(/^[1-9]\d*$/);
  // Where little time is reserved, a machine that stands still for a moment uses it up.
  const id = await until('a snowflake ID', async () => {
    const { status, body } = await call(server.port, '/api/snowflake/get/order');
    return status === 200 && body;
  });
  expect(id).toMatch(/^[1-9]\d*$/);
}

describe('the database file', () => {
  async function useGood(file: string, bytes: number): Promise<void> {
    await copyFile(goodDatabase, file);
    const whole = await readFile(file);
    await writeFile(file, whole.subarray(0, bytes < 0 ? whole.length + bytes : bytes));
  }

  it.each([
    ['is a text', (file: string) => writeFile(file, 'Dear diary,\n'.repeat(1000))],
    ['has lost its last page', (file: string) => useGood(file, -4096)],
    ['ends in its header', (file: string) => useGood(file, 60)],
    ['is empty', (file: string) => writeFile(file, '')],
  ])('%s', async (_what, spoil) => {
    const directory = await servers.makeDirectory();
    const file = join(directory, 'leaf.sqlite');
    await spoil(file);
    const before = await contents(directory);
    expect(await fault(servers.spawn(directory), 'LEAF_DATABASE_UNUSABLE')).toContain(file);
    expect(await contents(directory)).toEqual(before);

    await rename(file, `${file}.damaged`);
    await expectServing(await servers.start(directory));
  });

  it('is a directory', async () => {
    const directory = await servers.makeDirectory();
    const file = join(directory, 'leaf.sqlite');
    await mkdir(file);
    expect(await fault(servers.spawn(directory), 'LEAF_DATABASE_UNUSABLE')).toContain(file);
    const elsewhere = join(directory, 'other.sqlite');
    await expectServing(await servers.start(directory, { LEAF_DATABASE_URL: `sqlite:${elsewhere}` }));
  });
});

describe('the worker file', () => {
  async function writeWorkerFile(directory: string, content: string): Promise<string> {
    const file = join(directory, 'leaf/worker-0/workerID.json');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  }

  function record(timestamp: number): string {
    return JSON.stringify({ ip: '127.0.0.1', port: '8080', workId: 0, timestamp, leaseId: 'abc', pid: 1 });
  }

  it.each([
    ['is empty', ''],
    ['is cut off', record(1_700_000_000_000).slice(0, 60)],
    ['is of another worker', '{"ip":"127.0.0.1","port":"8080","workId":7,"timestamp":1700000000000}'],
    ['has no time', '{"ip":"127.0.0.1","port":"8080","workId":0,"timestamp":"soon"}'],
    ['is of another program', '[1,2,3]'],
  ])('%s', async (_what, content) => {
    const directory = await servers.makeDirectory();
    const file = await writeWorkerFile(directory, content);
    const server = await servers.start(directory, LOCAL);
    expect(await withoutWorker(server, 'LEAF_WORKER_FILE_INVALID')).toContain(file);
    expect(await readFile(file, 'utf8')).toBe(content);

    await rm(file);
    await expectServing(server);
  });

  it('is of the Java service', async () => {
    const directory = await servers.makeDirectory();
    await writeWorkerFile(directory, '{"ip":"127.0.0.1","port":"8080","workId":0,"timestamp":1700000000000}');
    await expectServing(await servers.start(directory, LOCAL));
  });

  it('is five minutes ahead of the clock', async () => {
    const directory = await servers.makeDirectory();
    const content = record(Date.now() + 300_000);
    const file = await writeWorkerFile(directory, content);
    await fault(servers.spawn(directory, { ...LOCAL, LEAF_SEGMENT_ENABLED: 'false' }), 'LEAF_CLOCK_BEHIND');
    const message = await withoutWorker(await servers.start(directory, LOCAL), 'LEAF_CLOCK_BEHIND');
    const behindMs = Number(/ (\d+) ms behind/.exec(message)?.[1]);
    expect(behindMs).toBeGreaterThan(200_000);
    expect(behindMs).toBeLessThanOrEqual(300_000);
    expect(message).toContain(join(directory, 'leaf'));
    expect(await readFile(file, 'utf8')).toBe(content);
  });

  it('is ahead of the clock until the clock has passed it', async () => {
    const directory = await servers.makeDirectory();
    const clock = await SteppedClock.create(directory);
    const env = { ...LOCAL, LEAF_SNOWFLAKE_LEASE_TTL_MS: '1000', LEAF_SNOWFLAKE_REPORT_MS: '200', ...clock.env };
    const ceiling = Date.now() + 120_000;
    await writeWorkerFile(directory, record(ceiling));
    const server = await servers.start(directory, env);
    await withoutWorker(server, 'LEAF_CLOCK_BEHIND');
    await clock.set(ceiling - Date.now() + 1);
    await expectServing(server);
  });
});

describe('the worker', () => {
  it('is held by another server', async () => {
    const directory = await servers.makeDirectory();
    const first = await servers.start(directory, LOCAL);
    const twin = await servers.start(directory, LOCAL);
    const message = await withoutWorker(twin, 'LEAF_WORKER_HELD');
    expect(message).toContain(`process ${first.pid}`);
    expect(message).toContain(join(directory, 'leaf/worker-0'));
    await expectServing(first);

    const second = await servers.start(directory, { LEAF_LOCAL_WORKERS: '{"*":1}' });
    const id = await text(second.port, '/api/snowflake/get/order');
    expect(await json(second.port, `/api/snowflake/decode/${id}`)).toMatchObject({ workerId: 1 });

    first.signal('SIGTERM');
    await first.exit();
    await expectServing(twin);
  });

  it('is not assigned', async () => {
    const directory = await servers.makeDirectory();
    const env = { LEAF_LOCAL_WORKERS: '{"10.0.0.7:8080":3}' };
    const message = await fault(servers.spawn(directory, env), 'LEAF_WORKER_UNASSIGNED');
    expect(message).toContain('10.0.0.7:8080');
    const advertised = { LEAF_ADVERTISE_HOST: '10.0.0.7', LEAF_ADVERTISE_PORT: '8080' };
    await expectServing(await servers.start(directory, { ...env, ...advertised }));
  });
});

describe('the port', () => {
  it('is in use', async () => {
    const directory = await servers.makeDirectory();
    const other = createServer((socket) => socket.destroy());
    const port = await freePort();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    try {
      for (const processes of ['1', '2']) {
        const env = { LEAF_PORT: String(port), LEAF_SHUTDOWN_DRAIN_MS: '600000', LEAF_PROCESSES: processes };
        const folder = join(directory, 'data');
        expect(await fault(servers.spawn(folder, env), 'LEAF_PORT_UNUSABLE')).toContain(`127.0.0.1:${port}`);
        expect(await readdir(directory)).toStrictEqual([]);
      }
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }

    const server = await servers.start(directory, { LEAF_PORT: String(port) });
    expect(server.port).toBe(port);
    await expectServing(server);
  });

  it('belongs to an address of another host', async () => {
    const directory = await servers.makeDirectory();
    const env = { LEAF_HOST: '192.0.2.200' };
    const message = await fault(servers.spawn(directory, env), 'LEAF_PORT_UNUSABLE');
    expect(message).toMatch(/192\.0\.2\.200 is not an address of this host\. Set LEAF_HOST to one of .*127\.0\.0\.1/);
  });
});

describe('the data directory', () => {
  it.each(['file', 'file/below'])('is %s', async (path) => {
    const directory = await servers.makeDirectory();
    const file = join(directory, 'file');
    await writeFile(file, 'keep me');
    expect(await fault(servers.spawn(join(directory, path)), 'LEAF_DATA_DIR_UNUSABLE')).toContain(
      join(directory, path),
    );
    expect(await readFile(file, 'utf8')).toBe('keep me');
    expect(await readdir(directory)).toEqual(['file']);

    await expectServing(await servers.start(join(directory, 'another/one')));
  });

  it('has a file where the workers are kept', async () => {
    const directory = await servers.makeDirectory();
    await writeFile(join(directory, 'leaf'), 'keep me');
    const server = await servers.start(directory, LOCAL);
    expect(await withoutWorker(server, 'LEAF_DATA_DIR_UNUSABLE')).toContain(join(directory, 'leaf'));
    expect(await readFile(join(directory, 'leaf'), 'utf8')).toBe('keep me');
    await expectServing(await servers.start(directory, { LEAF_NAME: 'another' }));
  });
});

describe('the environment', () => {
  it('names every bad variable and touches nothing', async () => {
    const directory = await servers.makeDirectory();
    const env = {
      LEAF_PORT: '70000',
      LEAF_HOST: 'no host',
      LEAF_SEGMENT_ENABLED: 'yes',
      LEAF_SNOWFLAKE_BITS: '41-10-12',
      LEAF_SEGMENT_PREFETCH_RATIO: '2',
      LEAF_DATABASE_URL: 'oracle://db',
      LEAF_LOCAL_WORKERS: '[0]',
      LEAF_LOG_LEVEL: 'loud',
    };
    const message = await fault(servers.spawn(directory, env), 'LEAF_CONFIG_INVALID');
    const named = message.split('\n').flatMap((line) => /^ {2}- (LEAF_\w+)/.exec(line)?.[1] ?? []);
    expect(named.sort()).toEqual(Object.keys(env).sort());
    expect(await readdir(directory)).toStrictEqual([]);
  });

  it.each([
    [{ LEAF_SEGMENT_ENABLED: 'false', LEAF_SNOWFLAKE_ENABLED: 'false' }, 'LEAF_SEGMENT_ENABLED'],
    [{ ...LOCAL, LEAF_SNOWFLAKE_REPORT_MS: '600', LEAF_SNOWFLAKE_LEASE_TTL_MS: '1000' }, 'LEAF_SNOWFLAKE_LEASE_TTL_MS'],
    [{ LEAF_LOCAL_WORKERS: '{"*":1024}' }, 'LEAF_LOCAL_WORKERS'],
    [{ LEAF_SNOWFLAKE_BITS: '45,10,12' }, 'LEAF_SNOWFLAKE_BITS'],
  ])('contradicts itself with %o', async (env, named) => {
    const directory = await servers.makeDirectory();
    expect(await fault(servers.spawn(directory, env), 'LEAF_CONFIG_INVALID')).toContain(named);
  });

  it('holds the address of a Kubernetes service called leaf', async () => {
    const directory = await servers.makeDirectory();
    const links = { LEAF_PORT: 'tcp://10.0.0.1:80', LEAF_SERVICE_HOST: '10.0.0.1', LEAF_PORT_80_TCP_PORT: '80' };
    const message = await fault(servers.spawn(directory, links), 'LEAF_CONFIG_INVALID');
    expect(message).toContain('LEAF_PORT');
    expect(message).toContain('enableServiceLinks: false');
    await expectServing(await servers.start(directory, { ...links, LEAF_PORT: '0' }));
  });

  it('misspells a variable, which is told and stops nothing', async () => {
    const server = await servers.start(await servers.makeDirectory(), { LEAF_PROT: '8080' });
    expect(server.stdout).toContain('LEAF_PROT');
    await expectServing(server);
  });
});
