import type { ClusterAnswer, ClusterWorkers } from '../../apps/leaf-server/src/cluster/views';
import { freePort, freePorts } from '../support/free-port';
import { call, json, text } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { CLUSTER_TOKEN as TOKEN, ClusterRig, signedFor } from '../support/servers/cluster-rig';
import { addWorkers, changeWorkers } from '../support/servers/data-directory';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const HOUR_MS = 3_600_000;
const REPORT = '/api/internal/server';

let rig: ClusterRig;
beforeEach(async () => {
  rig = await ClusterRig.create();
});
afterEach(() => rig.end());

describe('GET /api/cluster', () => {
  it('shows each server as it reports itself, with this one first', async () => {
    const [first, second] = [await rig.start(), await rig.start()];
    await text(second.port, `/api/segment/range/${TAG}?size=600000`);
    expect((await call(second.port, '/api/segment/get/none')).status).toBe(404);
    const found = await rig.seen(first, second.port, 'ready');
    const { asked, now, servers: list } = await rig.cluster(first);
    expect(asked).toBe(true);
    expect(list.map(({ instance, self }) => [instance, self])).toEqual([
      [`127.0.0.1:${first.port}`, true],
      [`127.0.0.1:${second.port}`, false],
    ]);
    expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
    expect(found).toMatchObject({
      self: false,
      version: expect.any(String) as string,
      startedAt: expect.any(Number) as number,
      tags: { count: 1 },
      snowflake: { workerId: found.workerId, registry: expect.stringMatching(/^database /) as string },
    });
    expect(found.answeredInMs).toBeGreaterThan(0);
    const busy = await until('the rate of the tag', async () => {
      await text(second.port, `/api/segment/range/${TAG}?size=1000`);
      const { servers: later } = await rig.cluster(first);
      return later[1]?.tags?.used[0];
    });
    expect(busy).toEqual({ tag: TAG, idsPerSecond: expect.any(Number) as number });
  });

  it('asks no other server without a token, and refuses their requests', async () => {
    const alone = await rig.start({ LEAF_CLUSTER_TOKEN: '' });
    const other = await rig.start();
    await rig.register('10.0.0.9:8080');
    const found = await until('the others', async () => {
      const answer = await rig.cluster(alone);
      return answer.servers.length === 3 && answer;
    });
    expect(found.asked).toBe(false);
    expect(found.servers.map(({ state }) => state)).toEqual(['ready', 'unasked', 'unasked']);
    expect(found.servers[1]?.reason).toContain('LEAF_CLUSTER_TOKEN');
    expect(found.servers[1]?.workerId).toEqual(expect.any(Number));
    const refused = await rig.seen(other, alone.port, 'refused');
    expect(refused.reason).toContain('LEAF_CLUSTER_TOKEN');
    expect(refused.version).toBeUndefined();
  });

  it('shows a server with another token as refused, to both', async () => {
    const [right, wrong] = [await rig.start(), await rig.start({ LEAF_CLUSTER_TOKEN: 'another-token-9876543210' })];
    expect((await rig.seen(right, wrong.port, 'refused')).reason).toContain('LEAF_CLUSTER_TOKEN');
    expect((await rig.seen(wrong, right.port, 'refused')).reason).toContain('LEAF_CLUSTER_TOKEN');
  });

  it('accepts all tokens of a list, and signs with the first', async () => {
    const first = await rig.start({ LEAF_CLUSTER_TOKEN: `new:new-token-0123456789ab,old:${TOKEN}` });
    const second = await rig.start();
    await rig.seen(second, first.port, 'ready');
    await rig.seen(first, second.port, 'refused');
  });

  it('shows as silent a server that hangs, sends too much, too slowly or an invalid report', async () => {
    const server = await rig.start();
    let flooded = 0;
    const ports = {
      hangs: await rig.listen(() => undefined),
      floods: await rig.listen((_, response) => {
        const chunk = 'x'.repeat(65_536);
        const write = (): void => {
          while (!response.destroyed && flooded < 10_000_000) {
            flooded += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', write);
          }
          response.end();
        };
        response.writeHead(200);
        write();
      }),
      trickles: await rig.listen((_, response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(timer));
      }),
      nonsense: await rig.listen((_, response) => void response.end('<html>not Leaf</html>')),
      another: await rig.listen((_, response) => void response.end(JSON.stringify(report('10.0.0.1:8080')))),
      redirects: await rig.listen((_, response) => void response.writeHead(302, { location: '/' }).end()),
      none: await freePort(),
    };
    await rig.register(...Object.values(ports).map((port) => `127.0.0.1:${port}`));
    const begun = performance.now();
    const reasons: Record<string, string | undefined> = {};
    for (const [name, port] of Object.entries(ports)) reasons[name] = (await rig.seen(server, port, 'silent')).reason;
    // The list of servers is read again after five seconds; a round takes 1.5 s.
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(reasons).toEqual({
      hangs: expect.stringContaining('timed out after 1500 ms'),
      floods: expect.stringContaining('exceeds 65536 bytes'),
      trickles: expect.stringContaining('timed out after 1500 ms'),
      nonsense: expect.stringContaining('not a report'),
      another: expect.stringContaining('10.0.0.1:8080'),
      redirects: expect.stringContaining('status 302'),
      none: expect.stringContaining('ECONNREFUSED'),
    });
    expect((await rig.cluster(server)).servers[0]?.state).toBe('ready');
  });

  it('shows only known properties of a report', async () => {
    const server = await rig.start();
    const port = await freePort();
    const strange = { ...report(`127.0.0.1:${port}`), isAdmin: true, tags: { count: 1, used: [{ tag: {} }, 7, null] } };
    await rig.listen((_, response) => void response.end(JSON.stringify(strange)), port);
    await rig.register(`127.0.0.1:${port}`);
    const found = await rig.seen(server, port, 'ready');
    expect(found).not.toHaveProperty('isAdmin');
    expect(found.tags).toEqual({ count: 1, used: [] });
  });

  it('sends signed requests to servers of the registry only, to no link-local address, and never the token', async () => {
    const server = await rig.start();
    const heard: (string | undefined)[] = [];
    const port = await rig.listen((request, response) => {
      heard.push(request.headers.authorization);
      response.end('{}');
    });
    await rig.register('169.254.169.254:80', `127.0.0.1:${port}`);
    await rig.seen(server, port, 'silent');
    expect(heard.join()).not.toContain(TOKEN);
    // Another server does not accept what this address receives.
    const { status } = await call(server.port, REPORT, { headers: { authorization: heard[0] } });
    expect([heard[0]?.slice(0, 10), status]).toEqual(['Bearer eyJ', 401]);
    const { servers: list } = await rig.cluster(server);
    expect(list.find(({ instance }) => instance === '169.254.169.254:80')?.reason).toContain('no valid address');
  });

  it('asks each server once a second at most, for a crowd of readers', async () => {
    const server = await rig.start();
    const times: number[] = [];
    const port = await rig.listen((_, response) => {
      times.push(performance.now());
      response.end('{}');
    });
    await rig.register(`127.0.0.1:${port}`);
    await rig.seen(server, port, 'silent');
    const begun = performance.now();
    const reader = async (): Promise<void> => {
      while (performance.now() - begun < 3000) await rig.cluster(server);
    };
    await Promise.all(Array.from({ length: 10 }, reader));
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(990);
    expect(times.length).toBeGreaterThan(2);
  });

  it('asks over the management port, which all servers have', async () => {
    const [port, management] = (await freePorts(2)) as [number, number];
    const at = (host: string): Promise<TestServer> =>
      rig.start({
        ...{ LEAF_HOST: host, LEAF_ADVERTISE_HOST: host },
        ...{ LEAF_PORT: String(port), LEAF_MANAGEMENT_PORT: String(management) },
      });
    await Promise.all([at('127.0.0.1'), at('127.0.0.2')]);
    const found = await until('the other', async () => {
      const { servers: list } = await json<ClusterAnswer>(management, '/api/cluster');
      return list.length === 2 && list.every(({ state }) => state === 'ready') && list;
    });
    expect(found.map(({ instance }) => instance)).toEqual([`127.0.0.1:${port}`, `127.0.0.2:${port}`]);
    for (const path of ['/api/cluster', '/api/cluster/workers', REPORT]) {
      const headers = { authorization: signedFor(`127.0.0.1:${port}`, 'GET', path) };
      expect([path, (await call(port, path, { headers })).status]).toEqual([path, 404]);
      expect([path, (await call(management, path, { headers })).status]).toEqual([path, 200]);
    }
  });

  it('merges the processes of a server, and forgets a server that leaves the registry', async () => {
    const server = await rig.start();
    const port = await freePort();
    await rig.register(`127.0.0.1#1:${port}`, `127.0.0.1:${port}`, `[::1#2]:8080`);
    await rig.seen(server, port, 'silent');
    const { servers: list } = await rig.cluster(server);
    expect(list.map(({ instance }) => instance)).toEqual([
      `127.0.0.1:${server.port}`,
      '[::1]:8080',
      `127.0.0.1:${port}`,
    ]);
    await changeWorkers(rig.directory, `DELETE FROM leaf_worker_pool WHERE ip_port <> '127.0.0.1:${server.port}'`);
    await until('the other to go', async () => (await rig.cluster(server)).servers.length === 1);
  });
});

describe('GET /api/internal/server', () => {
  it('requires a signature, limits failures but not signed requests, and never asks another server', async () => {
    const server = await rig.start({ LEAF_ADMIN_TOKEN: 'admin-token-0123456789' });
    let asked = 0;
    const port = await rig.listen((_, response) => {
      asked++;
      response.end('{}');
    });
    await rig.register(`127.0.0.1:${port}`);
    const ask = (authorization?: string): ReturnType<typeof call> =>
      call(server.port, REPORT, { headers: authorization === undefined ? {} : { authorization } });
    const signed = signedFor(`127.0.0.1:${server.port}`, 'GET', REPORT);
    expect(JSON.parse((await ask(signed)).body)).toMatchObject({
      instance: `127.0.0.1:${server.port}`,
      state: 'ready',
    });
    expect(asked).toBe(0);
    for (const given of [undefined, 'Bearer admin-token-0123456789', `Bearer ${TOKEN}`]) {
      const answer = await ask(given);
      expect([answer.status, problemCode(answer)]).toEqual([401, 'LEAF_UNAUTHORIZED']);
    }
    for (let failure = 3; failure < 10; failure++) expect((await ask('Bearer wrong-token')).status).toBe(401);
    expect((await ask('Bearer wrong-token')).status).toBe(429);
    expect((await ask(signed)).status).toBe(200);
  });

  it('tells why a server is not ready, and its latest failure', async () => {
    const server = await rig.start({ LEAF_ADMIN_TOKEN: 'admin-token-0123456789' });
    const headers = { authorization: 'Bearer admin-token-0123456789' };
    await call(server.port, `/api/tags/${TAG}/pause`, { method: 'POST', headers });
    expect((await call(server.port, `/api/segment/get/${TAG}`)).status).toBe(503);
    await call(server.port, '/api/server/drain', { method: 'POST', headers });
    const found = await rig.seen(server, server.port, 'draining');
    expect(found.reason).toContain('drain');
    expect(found.lastError).toMatchObject({ code: 'LEAF_TAG_PAUSED', message: expect.stringContaining(TAG) as string });
  });
});

describe('GET /api/cluster/workers', () => {
  it('shows who holds which worker ID, servers and windows', async () => {
    const worker = 'worker-token-0123456789';
    const server = await rig.start({ LEAF_WORKER_TOKENS: worker });
    const body = JSON.stringify({ lease: 'a'.repeat(32), holder: 'billing job' });
    const headers = { authorization: `Bearer ${worker}`, 'content-type': 'application/json' };
    const { body: made } = await call(server.port, '/api/workers', { method: 'POST', headers, body });
    const { workerId, until: end } = JSON.parse(made) as { workerId: number; until: number };
    const past = Date.now() - HOUR_MS;
    const [expired, released] = await addWorkers(rig.directory, [
      { instance: '10.0.0.1:80', ceiling: past, lease: 'a.1' },
      { instance: '10.0.0.2:80', ceiling: past, lease: 'b.1.free' },
    ]);
    const { workerIds, now, workers } = await json<ClusterWorkers>(server.port, '/api/cluster/workers');
    expect(workerIds).toBe(1024);
    expect(workers).toHaveLength(4);
    expect(workers).toEqual(
      expect.arrayContaining([
        { workerId, kind: 'window', holder: 'billing job', state: 'held', ceiling: end },
        { workerId: expired, kind: 'server', holder: '10.0.0.1:80', state: 'expired', ceiling: past },
        { workerId: released, kind: 'server', holder: '10.0.0.2:80', state: 'released', ceiling: past },
      ]),
    );
    const own = workers.find(({ holder }) => holder === `127.0.0.1:${server.port}`);
    expect(own?.ceiling).toBeGreaterThan(now);
  });

  it('shows the worker ID of a server with the registry local, and none without snowflake mode', async () => {
    const local = await startTestServer({ LEAF_LOCAL_WORKERS: '{"*":7}' });
    rig.servers.push(local);
    expect(await json(local.port, '/api/cluster/workers')).toMatchObject({
      workerIds: 1024,
      workers: [{ workerId: 7, kind: 'server', state: 'held' }],
    });
    const without = await startTestServer({ LEAF_SNOWFLAKE_ENABLED: 'false' });
    rig.servers.push(without);
    expect(await json(without.port, '/api/cluster/workers')).toMatchObject({ workerIds: 0, workers: [] });
    expect((await rig.cluster(without)).servers).toMatchObject([{ self: true, state: 'ready' }]);
  });
});

function report(instance: string): object {
  const idsPerSecond = { segment: 0, snowflake: 0 };
  return { instance, state: 'ready', version: '0.1.0', startedAt: 1, idsPerSecond, errorsPerSecond: 0 };
}
