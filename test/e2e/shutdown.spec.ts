import { Agent } from 'node:http';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { insertTag, maxIdOf } from '../support/servers/data-directory';
import { type Answer, call, text } from '../support/http/http';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
/** Longer than any test: whoever waits for the end of this drain waits too long. */
const ENDLESS = { LEAF_SHUTDOWN_DRAIN_MS: '600000' };
/** A machine that stands still for a moment must not sleep through it. */
const DRAIN_MS = 6000;
const DRAIN = { LEAF_SHUTDOWN_DRAIN_MS: String(DRAIN_MS) };
/** The next start has to come to its ports meanwhile, on a machine where others start, too. */
const LONG_DRAIN = { LEAF_SHUTDOWN_DRAIN_MS: '20000' };

const servers = new BuiltServers();

beforeAll(ensureBuilt);
afterEach(() => servers.end());

async function drained(port: number): Promise<Answer> {
  return until('not ready', async () => {
    const answer = await call(port, '/health/ready');
    return answer.status === 503 && answer;
  });
}

it.each(['1', '2'])('SIGUSR1 opens no debugger: %s processes', async (processes) => {
  const server = await servers.start(await servers.makeDirectory(), { LEAF_PROCESSES: processes });
  const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
  const pids = [server.pid, ...children.split(' ').filter(Boolean).map(Number)];
  expect(pids.length).toBeGreaterThanOrEqual(Number(processes));
  for (const pid of pids) process.kill(pid, 'SIGUSR1');
  // By default, Node.js writes a line to standard error and listens.
  expect(await text(server.port, `/api/segment/get/${TAG}`)).toMatch(/^\d+$/);
  server.signal('SIGTERM');
  expect(await server.exit()).toEqual({ code: 0, signal: null });
  expect(server.stderr).toBe('');
});

describe('SIGTERM', () => {
  it('under load loses no request, wastes no ID and lets the next start serve at once', async () => {
    const directory = await servers.makeDirectory();
    const server = await servers.start(directory, DRAIN);
    const { port } = server;
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const segment: Answer[] = [];
    const snowflake: Answer[] = [];
    let stopped = false;
    const callers = Array.from({ length: 8 }, async (_, index) => {
      while (!stopped) {
        if (index % 2 === 0) segment.push(await call(port, `/api/segment/get/${TAG}`, { agent }));
        else snowflake.push(await call(port, '/api/snowflake/get/order', { agent }));
      }
    });
    await until('load', () => segment.length > 300 && snowflake.length > 300);
    server.signal('SIGTERM');
    const ready = await drained(port);
    const before = segment.length;
    await until('load while draining', () => segment.length > before + 100);
    stopped = true;
    await Promise.all(callers);
    agent.destroy();

    expect(JSON.parse(ready.body)).toMatchObject({ status: 'error', error: { drain: { status: 'down' } } });
    expect(segment.concat(snowflake).filter(({ status }) => status !== 200)).toStrictEqual([]);
    for (const answers of [segment.slice(before + 20), snowflake.slice(-10)]) {
      expect(new Set(answers.map(({ headers }) => headers.connection))).toEqual(new Set(['close']));
    }
    expect((await call(port, '/health/live')).status).toBe(200);
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(server.stderr).toBe('');

    const issued = segment.map(({ body }) => Number(body));
    expect(new Set(issued).size).toBe(issued.length);
    expect(maxIdOf(directory, TAG)).toBe(Math.max(...issued) + 1);

    const next = await servers.start(directory);
    const id = await call(next.port, '/api/snowflake/get/order');
    expect(id.status).toBe(200);
    expect(BigInt(id.body)).toBeGreaterThan(BigInt(snowflake.at(-1)!.body));
    expect(await text(next.port, `/api/segment/get/${TAG}`)).toBe(String(Math.max(...issued) + 1));
  });

  it('gives the rest of every tag back', async () => {
    const directory = await servers.makeDirectory();
    const server = await servers.start(directory);
    for (const tag of ['one', 'two', 'three']) insertTag(directory, { tag, step: 100 });
    expect(await text(server.port, '/api/segment/get/one')).toBe('1');
    await text(server.port, '/api/segment/batch/two?size=55');
    await text(server.port, '/api/segment/range/three?size=1234');
    server.signal('SIGTERM');
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(['one', 'two', 'three'].map((tag) => maxIdOf(directory, tag))).toEqual([2, 56, 1235]);
  });

  it('leaves what another server has allocated since', async () => {
    const directory = await servers.makeDirectory();
    const first = await servers.start(directory);
    insertTag(directory, { tag: 'shared', step: 100 });
    expect(await text(first.port, '/api/segment/get/shared')).toBe('1');
    const second = await servers.start(directory);
    expect(await text(second.port, '/api/segment/get/shared')).toBe('101');
    first.signal('SIGTERM');
    await first.exit();
    expect(maxIdOf(directory, 'shared')).toBe(201);
    expect(await text(second.port, '/api/segment/get/shared')).toBe('102');
  });

  it.each(['1', '2'])('lets a start of %s processes wait for the port until the drain is over', async (processes) => {
    const directory = await servers.makeDirectory();
    const server = await servers.start(directory, { ...LONG_DRAIN, LEAF_PROCESSES: processes });
    const { port } = server;
    server.signal('SIGTERM');
    await drained(port);
    const next = servers.spawn(directory, { ...LONG_DRAIN, LEAF_PORT: String(port), LEAF_PROCESSES: processes });
    await until('the next start', () => next.stdout.includes('Waiting for the earlier server on this port to stop.'));
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(await next.listening()).toBe(port);
    expect(await text(port, `/api/segment/get/${TAG}`)).toMatch(/^\d+$/);
    expect(next.stderr).toBe('');
  });

  it('during the start ends it in order', async () => {
    const directory = await servers.makeDirectory();
    const server = servers.spawn(directory, ENDLESS);
    await until('database', () => existsSync(join(directory, 'leaf.sqlite')));
    server.signal('SIGINT');
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    await servers.start(directory);
  });

  it('a second time does not cut the drain short', async () => {
    const server = await servers.start(await servers.makeDirectory(), DRAIN);
    const start = performance.now();
    server.signal('SIGTERM');
    await drained(server.port);
    server.signal('SIGTERM');
    for (let i = 1; i <= 50; i++) expect(await text(server.port, `/api/segment/get/${TAG}`)).toBe(String(i));
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(performance.now() - start).toBeGreaterThanOrEqual(DRAIN_MS - 1);
  });

  it('a third signal ends it at once', async () => {
    const server = await servers.start(await servers.makeDirectory(), ENDLESS);
    server.signal('SIGTERM');
    await drained(server.port);
    // Two of a kind at once count as one.
    server.signal('SIGINT');
    server.signal('SIGTERM');
    expect(await server.exit()).toEqual({ code: 1, signal: null });
  });
});

describe('SIGINT', () => {
  it('ends the server in order, without a drain', async () => {
    const directory = await servers.makeDirectory();
    const server = await servers.start(directory, ENDLESS);
    expect(await text(server.port, `/api/segment/get/${TAG}`)).toBe('1');
    server.signal('SIGINT');
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(maxIdOf(directory, TAG)).toBe(2);
  });

  it('does not wait for connections that are idle', async () => {
    const server = await servers.start(await servers.makeDirectory(), ENDLESS);
    const agent = new Agent({ keepAlive: true });
    await text(server.port, '/api/snowflake/get/order', { agent });
    server.signal('SIGINT');
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    agent.destroy();
  });
});
