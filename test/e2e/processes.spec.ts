import { Agent } from 'node:http';
import { BitLayout, DEFAULT_LAYOUT } from '@leaf-ids/core';
import type { OverviewView, SegmentsView, SnowflakeView } from '../../apps/leaf-server/src/monitor/views/views';
import { freePort } from '../support/free-port';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { ensureBuilt } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { EventReader } from '../support/http/event-reader';
import type { Family } from '../support/http/exposition';
import { call, json, text } from '../support/http/http';
import { scrape } from '../support/http/metrics';
import { isAlive, processesOf, replaced } from '../support/servers/supervised';
import { until } from '../support/until';

const PROCESSES = 2;
const CALLERS = 8;
const SEGMENT = '/api/segment/get/leaf-segment-test';
const SNOWFLAKE = '/api/snowflake/get/order';
/** A replacement has to wait for the reserved time of the one before. */
const ENV = {
  LEAF_PROCESSES: String(PROCESSES),
  LEAF_SNOWFLAKE_REGISTRY: 'local',
  LEAF_SNOWFLAKE_REPORT_MS: '1000',
  LEAF_SNOWFLAKE_LEASE_TTL_MS: '8000',
};

const servers = new BuiltServers();
let agents: Agent[] = [];

beforeAll(ensureBuilt);
afterEach(async () => {
  for (const agent of agents) agent.destroy();
  agents = [];
  await servers.end();
});

async function start(env: NodeJS.ProcessEnv = {}, processes = PROCESSES): Promise<BuiltServer> {
  const directory = await servers.makeDirectory();
  const server = await servers.start(directory, { ...ENV, ...env, LEAF_PROCESSES: String(processes) });
  await until('all processes', () => processesOf(server).size === processes);
  return server;
}

/** One connection. */
function connection(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return agent;
}

function workerOf(id: string): number {
  return new BitLayout(DEFAULT_LAYOUT).decompose(BigInt(id)).workerId;
}

/** With the answers of all processes, however busy the machine. */
function scrapeAll(port: number): Promise<Map<string, Family>> {
  return until('figures of all processes', async () => {
    const families = await scrape(port);
    return total(families, 'leaf_process_up') === PROCESSES && families;
  });
}

function total(families: Map<string, Family>, name: string, route = ''): number {
  const samples = (families.get(name)?.samples ?? []).filter(
    ({ labels }) => labels['route']?.startsWith(route) ?? true,
  );
  expect(new Set(samples.map(({ labels }) => labels['process']))).toEqual(new Set(['0', '1']));
  return samples.reduce((sum, { value }) => sum + value, 0);
}

/** The last lines of processes that have given everything back. */
function releases({ stdout }: BuiltServer): string[] {
  return stdout.match(/Stopped: \d+ unused IDs returned, worker ID \d+ released\./g) ?? [];
}

describe('A server of several processes', () => {
  it('gives every ID once, and tells of all processes together', async () => {
    const server = await start();
    const { port } = server;
    const each = 50;
    const taken = await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        const agent = connection();
        const [segment, snowflake]: [string[], string[]] = [[], []];
        for (let round = 0; round < each; round++) {
          segment.push(await text(port, SEGMENT, { agent }));
          snowflake.push(await text(port, SNOWFLAKE, { agent }));
        }
        return { segment, snowflake };
      }),
    );
    const count = CALLERS * each;
    for (const ids of [taken.flatMap(({ segment }) => segment), taken.flatMap(({ snowflake }) => snowflake)]) {
      expect(new Set(ids).size).toBe(count);
    }
    // A connection stays with one process, whose IDs ascend.
    for (const { segment, snowflake } of taken) {
      for (const ids of [segment, snowflake]) {
        expect(ids).toEqual([...ids].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)));
      }
      expect(new Set(snowflake.map(workerOf)).size).toBe(1);
    }
    expect(new Set(taken.flatMap(({ snowflake }) => snowflake.map(workerOf)))).toEqual(new Set([0, 1]));

    const figures = await scrapeAll(port);
    expect(total(figures, 'leaf_http_requests_total', '/api/segment/get')).toBe(count);
    expect(total(figures, 'leaf_http_requests_total', '/api/snowflake/get')).toBe(count);
    expect(total(figures, 'leaf_ids_issued_total')).toBe(2 * count);
    expect(figures.get('leaf_ready')?.samples).toEqual([expect.objectContaining({ labels: {}, value: 1 })]);

    const overview = await until('overview of all', async () => {
      const view = await json<OverviewView>(port, '/api/monitor/overview');
      return view.processes.every(({ ready }) => ready) && view;
    });
    expect(overview).toMatchObject({ ready: true, issued: { segment: count, snowflake: count } });
    expect(overview.processes.map(({ process, workerId }) => [process, workerId])).toEqual([
      [0, 0],
      [1, 1],
    ]);
    const { workers, worker } = await until('workers of all', async () => {
      const view = await json<SnowflakeView>(port, '/api/monitor/snowflake');
      return view.workers.length === PROCESSES && view;
    });
    expect(workers.map(({ workerId }) => workerId)).toEqual([0, 1]);
    expect(worker).toMatchObject({ workerId: 0 });
    expect(workers.reduce((issued, each) => issued + each.issued, 0)).toBe(count);

    const isWhole =
      (issued: number) =>
      ({ tags }: SegmentsView): boolean =>
        tags.length === 1 && tags[0]?.issued === issued;
    await until('tags of all', async () => isWhole(count)(await json<SegmentsView>(port, '/api/monitor/segments')));
    const reader = await EventReader.open(port, '/api/monitor/stream');
    try {
      await reader.next<SegmentsView>('segments', isWhole(count));
      await text(port, SEGMENT);
      await reader.next<SegmentsView>('segments', isWhole(count + 1));
    } finally {
      reader.close();
    }
  });

  it('replaces a process that was killed, stays ready, and gives no ID twice', async () => {
    const server = await start();
    const { port } = server;
    const ids: string[] = [];
    const refused: string[] = [];
    let stopped = false;
    const caller = async (path: string): Promise<void> => {
      let agent = connection();
      while (!stopped) {
        const answer = await call(port, path, { agent }).catch(() => undefined);
        // Its connection ended with the process.
        if (answer === undefined) agent = connection();
        else if (answer.status === 200) ids.push(path + answer.body);
        else refused.push(`${answer.status} ${answer.body}`);
      }
    };
    const watcher = async (): Promise<void> => {
      while (!stopped) {
        const answer = await call(port, '/health/ready').catch(() => undefined);
        if (answer !== undefined && answer.status !== 200) refused.push(`${answer.status} ${answer.body}`);
      }
    };
    const callers = [...Array(CALLERS).keys()].map((index) => caller(index % 2 === 0 ? SEGMENT : SNOWFLAKE));
    const watching = watcher();
    await until('IDs', () => ids.length > 200);
    await replaced(server, 1);
    const after = ids.length;
    await until('more IDs', () => ids.length > after + 200);
    stopped = true;
    await Promise.all([...callers, watching]);
    expect(refused).toStrictEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(server.stdout).toContain('was ended by SIGKILL');
  });

  it('loses the connections of a process that was killed and no others, and gives the new one its share', async () => {
    const [processes, share, killed] = [4, 4, 3];
    const server = await start({}, processes);
    const { port } = server;
    /** Of one connection after the other: the workers that have answered, and how often there was no answer. */
    const callers = Array.from({ length: processes * share }, () => ({ workers: [] as number[], failed: 0 }));
    const ids: string[] = [];
    let stopped = false;
    const take = async (caller: { readonly workers: number[] }, agent: Agent): Promise<void> => {
      const id = await text(port, SNOWFLAKE, { agent });
      caller.workers.push(workerOf(id));
      ids.push(id);
    };
    const taken: Agent[] = [];
    for (const caller of callers) {
      taken.push(connection());
      await take(caller, taken.at(-1)!);
    }
    const own = callers.filter(({ workers }) => workers[0] === killed).map((caller) => callers.indexOf(caller));
    expect(own).toHaveLength(share);
    const running = callers.map(async (caller, index) => {
      let agent = taken[index]!;
      while (!stopped) {
        await take(caller, agent).catch(() => {
          caller.failed++;
          agent = connection();
        });
      }
    });
    await replaced(server, killed);
    const counts = callers.map(({ workers }) => workers.length);
    await until('more IDs', () => callers.every(({ workers }, index) => workers.length > counts[index]!));
    stopped = true;
    await Promise.all(running);
    const lost = callers.filter(({ failed }) => failed > 0);
    expect(lost.map((caller) => callers.indexOf(caller))).toEqual(own);
    for (const { failed, workers } of callers) if (failed === 0) expect(new Set(workers).size).toBe(1);

    const later: number[] = [];
    for (let index = 0; index < callers.length; index++) {
      const id = await text(port, SNOWFLAKE, { agent: connection() });
      later.push(workerOf(id));
      ids.push(id);
    }
    expect(later.filter((worker) => worker === killed)).toHaveLength(share);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('replaces a process that hangs, and gives no ID twice', async () => {
    const server = await start();
    const { port } = server;
    const take = async (): Promise<string[]> =>
      Promise.all(
        Array.from({ length: 4 * PROCESSES }, (_, index) =>
          text(port, index % 2 === 0 ? SEGMENT : SNOWFLAKE, { agent: connection() }),
        ),
      );
    const ids = await take();
    const hung = processesOf(server).get(1)!;
    const replacement = replaced(server, 1, 'SIGSTOP');
    // One of these connections is passed to the process that hangs, and closed when that is killed.
    const answers: (string | undefined)[] = [];
    for (let index = 0; index < 4 * PROCESSES; index++) {
      const answer = text(port, SEGMENT, { agent: connection() }).catch(() => undefined);
      void answer.then((id) => answers.push(id));
    }
    await replacement;
    expect(isAlive(hung)).toBe(false);
    await until('the end of all requests', () => answers.length === 4 * PROCESSES, 5000);
    const answered = answers.filter((id) => id !== undefined);
    expect(answered).toHaveLength(4 * PROCESSES - 1);
    ids.push(...answered);
    expect(server.stdout).toContain(`Process 1 (${hung}) has not answered for 30000 ms: it is killed.`);
    ids.push(...(await take()));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('ends all its processes and releases their worker IDs after SIGTERM', async () => {
    const directory = await servers.makeDirectory();
    const server = await servers.start(directory, ENV);
    await until('all processes', () => processesOf(server).size === PROCESSES);
    const pids = [...processesOf(server).values()];
    const first = await text(server.port, SNOWFLAKE);
    server.signal('SIGTERM');
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(pids.filter(isAlive)).toStrictEqual([]);
    expect(releases(server)).toHaveLength(PROCESSES);
    const next = await servers.start(directory, ENV);
    expect(BigInt(await text(next.port, SNOWFLAKE))).toBeGreaterThan(BigInt(first));
  });

  it('leaves no process behind when the one above them is killed', async () => {
    const directory = await servers.makeDirectory();
    const port = await freePort();
    const env = { ...ENV, LEAF_PORT: String(port) };
    const server = await servers.start(directory, env);
    await until('all processes', () => processesOf(server).size === PROCESSES);
    const pids = [...processesOf(server).values()];
    await text(port, SNOWFLAKE);
    server.signal('SIGKILL');
    await until('end of all', () => !pids.some(isAlive), 60_000);
    await until('the last lines of all', () => releases(server).length === PROCESSES);
    await expect(call(port, SNOWFLAKE)).rejects.toThrow('ECONNREFUSED');
    await servers.start(directory, env);
    await text(port, SNOWFLAKE);
  });

  it('takes a command of an operator in every process at once, and in one that comes later', async () => {
    const clientToken = 'billing-token-0123456789';
    const server = await start({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_CLIENT_TOKENS: `billing:${clientToken}` });
    const { port } = server;
    const statuses = async (path: string): Promise<Set<number>> => {
      // Connections of their own: they are dealt out in turn.
      const answers = [];
      const headers = { authorization: `Bearer ${clientToken}` };
      for (let i = 0; i < 4 * PROCESSES; i++) answers.push(await call(port, path, { headers }));
      return new Set(answers.map(({ status }) => status));
    };
    const command = async (method: string, path: string, body?: object): Promise<void> => {
      // 503: a process did not answer in time. The command can be given again.
      await until(`${method} ${path}`, async () => (await admin(port, method, path, body)).status < 300);
    };
    await command('POST', '/api/tags', { tag: 'order', step: 100 });
    expect(await statuses('/api/segment/get/order')).toEqual(new Set([200]));
    await command('POST', '/api/tags/order/pause');
    expect(await statuses('/api/segment/get/order')).toEqual(new Set([503]));
    await command('POST', '/api/server/clients/billing/block');
    expect(await statuses('/api/snowflake/get/order')).toEqual(new Set([403]));
    await replaced(server, 0);
    expect(await statuses('/api/snowflake/get/order')).toEqual(new Set([403]));
    await command('DELETE', '/api/server/clients/billing/block');
    expect(await statuses('/api/segment/get/order')).toEqual(new Set([503]));
    await command('POST', '/api/tags/order/resume');
    expect(await statuses('/api/segment/get/order')).toEqual(new Set([200]));
    await command('POST', '/api/server/drain');
    expect(await statuses('/health/ready')).toEqual(new Set([503]));
    await command('DELETE', '/api/server/drain');
    expect(await statuses('/health/ready')).toEqual(new Set([200]));
    await command('DELETE', '/api/tags/order');
    expect(await statuses('/api/segment/get/order')).toEqual(new Set([404]));
  });

  it.each([
    ['a wrong setting', { LEAF_LOCAL_WORKERS: '{"10.0.0.7:8080":0,"10.0.0.8:8080":1}' }, 'LEAF_LOCAL_WORKERS gives'],
    ['a database that is none', { LEAF_DATABASE_URL: 'sqlite:/dev/null/leaf.sqlite' }, 'LEAF_DATA_DIR_UNUSABLE'],
  ])('does not start with %s, and says so once', async (_, env, fault) => {
    const server = servers.spawn(await servers.makeDirectory(), { ...ENV, ...env });
    expect(await server.exit()).toEqual({ code: 1, signal: null });
    expect(server.stderr.split('leaf-server cannot start:')).toHaveLength(2);
    expect(server.stderr).toContain(fault);
    expect(processesOf(server).size).toBe(0);
  });
});
