import { lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt } from '../../support/build';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { maxIdOf } from '../../support/servers/data-directory';
import { type Answer, call, text } from '../../support/http/http';
import { problemCode } from '../../support/http/problem';
import { onDiskOf, spawnOnDisk } from '../../support/servers/small-disk';
import { until } from '../../support/until';

const TAG = 'leaf-segment-test';
const LIMIT_MS = 60_000;
/** Reading and writing it fail with EIO: nothing is mapped at its beginning. */
const BROKEN = '/proc/self/mem';
/** Writing it fails with ENOSPC. */
const FULL = '/dev/full';
const LOCAL = { LEAF_SNOWFLAKE_REGISTRY: 'local' };
/** Time is reserved for two seconds, so that its end is seen soon. */
const SHORT = { LEAF_SNOWFLAKE_LEASE_TTL_MS: '2000', LEAF_SNOWFLAKE_REPORT_MS: '500', ...LOCAL };
const WORKER = 'leaf/worker-0';
const HOT_TAGS = 'leaf/hot-tags.json';

const servers = new BuiltServers();
const onDisks: BuiltServer[] = [];
beforeAll(() => ensureBuilt());
afterEach(async () => {
  await Promise.all(onDisks.splice(0).map((server) => server.kill()));
  await servers.end();
});

async function startOnDisk(size: string, env: NodeJS.ProcessEnv = {}): Promise<BuiltServer> {
  const server = await spawnOnDisk(await servers.makeDirectory(), { size }, env);
  onDisks.push(server);
  await server.listening();
  return server;
}

function take({ port }: BuiltServer): Promise<Answer> {
  return call(port, `/api/segment/batch/${TAG}?size=1500`);
}

function idsIn({ body }: Answer): bigint[] {
  return (JSON.parse(body) as { ids: string[] }).ids.map(BigInt);
}

describe('a disk that is full', () => {
  it('while the server runs lets it give what it has, then refuse, then go on, and nothing comes twice', async () => {
    const server = await startOnDisk('4m', SHORT);
    const filler = onDiskOf(server, 'filler');
    const segments: bigint[] = [];
    const snowflakes: bigint[] = [];
    segments.push(...idsIn(await take(server)));
    // A machine that stands still for a moment uses the reserved time up.
    await until('a snowflake ID', async () => {
      const answer = await call(server.port, '/api/snowflake/get/order');
      if (answer.status === 200) snowflakes.push(BigInt(answer.body));
      return answer.status === 200;
    });
    await expect(writeFile(filler, Buffer.alloc(8 * 1024 * 1024))).rejects.toMatchObject({ code: 'ENOSPC' });

    const refused = await until('a refusal of segments', async () => {
      const answer = await take(server);
      if (answer.status !== 200) return answer;
      segments.push(...idsIn(answer));
      return undefined;
    });
    expect(['LEAF_SEGMENT_UNAVAILABLE', 'LEAF_STORE_UNAVAILABLE']).toContain(problemCode(refused));
    const expired = await until('the end of the reserved time', async () => {
      const answer = await call(server.port, '/api/snowflake/get/order');
      if (answer.status !== 200) return answer;
      snowflakes.push(BigInt(answer.body));
      return undefined;
    });
    expect(problemCode(expired)).toBe('LEAF_LEASE_EXPIRED');
    expect((await call(server.port, '/health/ready')).status).toBe(503);
    expect((await call(server.port, '/health/live')).status).toBe(200);
    await until('a word in the log', () => /No space left|ENOSPC|full/i.test(server.stdout));

    await rm(filler);
    await until('segments', async () => {
      const answer = await take(server);
      if (answer.status === 200) segments.push(...idsIn(answer));
      return answer.status === 200;
    });
    await until('snowflake IDs', async () => {
      const answer = await call(server.port, '/api/snowflake/get/order');
      if (answer.status === 200) snowflakes.push(BigInt(answer.body));
      return answer.status === 200;
    });
    for (const ids of [segments, snowflakes]) {
      expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true);
    }
  });

  it('at the start is told by its name, and nothing is left half made', async () => {
    const directory = await servers.makeDirectory();
    const server = await spawnOnDisk(directory, { size: '8k' });
    onDisks.push(server);
    expect(await server.exit()).toEqual({ code: 1, signal: null });
    expect(server.stderr).toMatch(/^leaf-server cannot start: LEAF_(DATABASE|DATA_DIR)_UNUSABLE: .*\n$/);
    expect(server.stderr).toContain(directory);
    expect(server.stderr).toContain('free space');
  });
});

it('a file system that is read-only is told by its name at the start', async () => {
  const used = await servers.start(await servers.makeDirectory());
  await text(used.port, `/api/segment/get/${TAG}`);
  used.signal('SIGTERM');
  await used.exit();
  const directory = await servers.makeDirectory();
  for (const content of [used.directory, undefined]) {
    const disk = { size: '4m', readOnly: true, ...(content === undefined ? {} : { content }) };
    const server = await spawnOnDisk(directory, disk);
    onDisks.push(server);
    expect(await server.exit()).toEqual({ code: 1, signal: null });
    expect(server.stderr).toMatch(
      /^leaf-server cannot start: LEAF_(DATABASE_UNUSABLE|DATA_DIR_UNUSABLE|CONFIG_INVALID): .*\n$/,
    );
    expect(server.stderr).toContain(directory);
  }
});

describe('a file that cannot be', () => {
  async function withLink(target: string, ...names: string[]): Promise<string> {
    const directory = await servers.makeDirectory();
    await mkdir(join(directory, WORKER), { recursive: true });
    for (const name of names) await symlink(target, join(directory, name));
    return directory;
  }

  it('read, of the worker, stops snowflake IDs alone, and is left as it is', async () => {
    const directory = await withLink(BROKEN, `${WORKER}/workerID.json`);
    const server = servers.spawn(directory, LOCAL);
    await until('a word of it', () => server.stdout.includes('EIO') || !server.running, LIMIT_MS);
    expect(server.stdout).toContain(join(directory, WORKER, 'workerID.json'));
    await server.listening();
    expect(await text(server.port, `/api/segment/get/${TAG}`)).toBe('1');
    expect((await call(server.port, '/api/snowflake/get/order')).status).toBe(503);
    expect((await lstat(join(directory, WORKER, 'workerID.json'))).isSymbolicLink()).toBe(true);
  });

  it('written, of the worker, lets nobody start until it can', async () => {
    const directory = await withLink(BROKEN, `${WORKER}/workerID.json.tmp`);
    const server = servers.spawn(directory, LOCAL);
    await until('a word of it', () => server.stdout.includes('EIO') || !server.running, LIMIT_MS);
    expect(server.running).toBe(true);
    await expect(readFile(join(directory, WORKER, 'workerID.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    await rm(join(directory, WORKER, 'workerID.json.tmp'));
    await until(
      'readiness',
      async () => (await call(await server.listening(), '/health/ready')).status === 200,
      LIMIT_MS,
    );
    expect(await text(server.port, '/api/snowflake/get/order')).toMatch(/^\d+$/);
  });

  it.each([
    ['read', BROKEN, HOT_TAGS],
    ['written', FULL, `${HOT_TAGS}.tmp`],
  ])('%s, of the hot tags, costs nothing but waiting', async (_what, target, name) => {
    const directory = await withLink(target, name);
    const server = await servers.start(directory);
    expect(await text(server.port, `/api/segment/get/${TAG}`)).toBe('1');
    server.signal('SIGTERM');
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(maxIdOf(directory, TAG)).toBe(2);
  });
});
