import type { CommandAnswer } from '../../apps/leaf-server/src/cluster/views';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { call } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { LogLines } from '../support/log-lines';
import { CLUSTER_TOKEN, ClusterRig, signedFor } from '../support/servers/cluster-rig';
import type { TestServer } from '../support/servers/server';

const TAG = 'leaf-segment-test';
const COMMANDS = '/api/cluster/orders';
const ADMINS = { LEAF_ADMIN_TOKEN: `ops:${ADMIN_TOKEN}` };
const LOGGED = { ...ADMINS, LEAF_LOG_LEVEL: 'info', LEAF_LOG_FORMAT: 'json' };

let rig: ClusterRig;
beforeEach(async () => {
  rig = await ClusterRig.create();
});
afterEach(() => rig.end());

async function command(server: TestServer, body: object): Promise<CommandAnswer['results']> {
  const answer = await admin(server.port, 'POST', COMMANDS, body);
  expect([answer.status, answer.body]).toEqual([200, answer.body]);
  return (JSON.parse(answer.body) as CommandAnswer).results;
}

async function refused(server: TestServer, body: unknown): Promise<string> {
  const answer = await admin(server.port, 'POST', COMMANDS, body);
  expect([answer.status, problemCode(answer)]).toEqual([400, 'LEAF_BODY_INVALID']);
  return (JSON.parse(answer.body) as { detail: string }).detail;
}

function statusOf({ port }: TestServer, path = `/api/segment/get/${TAG}`): Promise<number> {
  return call(port, path).then(({ status }) => status);
}

/** Signed with the cluster token, as another server does. */
function asPeer({ port }: TestServer, method: string, path: string, actor?: string): ReturnType<typeof call> {
  const headers = { authorization: signedFor(`127.0.0.1:${port}`, method, path, actor) };
  return call(port, path, { method, headers });
}

describe('POST /api/cluster/orders', () => {
  it('pauses and resumes a tag on all servers, and tells the result of each', async () => {
    const [first, second] = [await rig.start(ADMINS), await rig.start()];
    const wrong = await rig.start({ LEAF_CLUSTER_TOKEN: 'another-token-9876543210' });
    const hangs = await rig.listen(() => undefined);
    await rig.register(`127.0.0.1:${hangs}`);
    const results = await command(first, { order: 'pause-tag', tag: TAG });
    const of = (port: number): unknown => results.find(({ instance }) => instance === `127.0.0.1:${port}`);
    expect(results).toHaveLength(4);
    expect(of(first.port)).toEqual({ instance: `127.0.0.1:${first.port}`, done: true });
    expect(of(second.port)).toMatchObject({ done: true });
    const reason = (part: string): object => ({ done: false, reason: expect.stringContaining(part) as string });
    expect(of(wrong.port)).toMatchObject(reason('LEAF_CLUSTER_TOKEN'));
    expect(of(hangs)).toMatchObject(reason('timed out'));
    expect([await statusOf(first), await statusOf(second), await statusOf(wrong)]).toEqual([503, 503, 200]);
    const servers = [`127.0.0.1:${second.port}`];
    expect(await command(first, { order: 'resume-tag', tag: TAG, servers })).toEqual([
      { instance: servers[0], done: true },
    ]);
    expect([await statusOf(first), await statusOf(second)]).toEqual([503, 200]);
  });

  it('passes the refusal of a server on, and sends nothing to an address that the registry does not list', async () => {
    const server = await rig.start(ADMINS);
    let asked = 0;
    const stranger = await rig.listen((_, response) => {
      asked++;
      response.end();
    });
    const servers = [`127.0.0.1:${server.port}`, `127.0.0.1:${stranger}`];
    const [own, other] = await command(server, { order: 'pause-tag', tag: 'unknown', servers });
    expect(own).toMatchObject({ done: false, reason: expect.stringContaining('unknown') as string });
    expect(other).toMatchObject({ done: false, reason: expect.stringContaining('does not list') as string });
    expect(asked).toBe(0);
  });

  it('drains several servers only with their number', async () => {
    const [first, second] = [await rig.start(ADMINS), await rig.start()];
    expect(await refused(first, { order: 'drain' })).toContain('"confirm": "2"');
    expect(await refused(first, { order: 'drain', confirm: '3' })).toContain('2 servers');
    expect([await statusOf(first, '/health/ready'), await statusOf(second, '/health/ready')]).toEqual([200, 200]);
    const done = await command(first, { order: 'drain', confirm: '2' });
    expect(done.map((one) => one.done)).toEqual([true, true]);
    expect([await statusOf(first, '/health/ready'), await statusOf(second, '/health/ready')]).toEqual([503, 503]);
    await command(first, { order: 'undrain' });
    expect([await statusOf(first, '/health/ready'), await statusOf(second, '/health/ready')]).toEqual([200, 200]);
    const servers = [`127.0.0.1:${second.port}`];
    expect(await command(first, { order: 'drain', servers })).toMatchObject([{ done: true }]);
  });

  it('executes the command on this server only, without a cluster token', async () => {
    const server = await rig.start({ ...ADMINS, LEAF_CLUSTER_TOKEN: '' });
    const other = await rig.start({ LEAF_CLUSTER_TOKEN: '' });
    const results = await command(server, { order: 'pause-tag', tag: TAG });
    expect(results).toMatchObject([
      { instance: `127.0.0.1:${server.port}`, done: true },
      { instance: `127.0.0.1:${other.port}`, done: false, reason: expect.stringContaining('is not set') as string },
    ]);
  });

  it.each([
    [{}],
    [{ order: 'restart' }],
    [{ order: 'pause-tag' }],
    [{ order: 'pause-tag', tag: '../server/drain' }],
    [{ order: 'pause-tag', tag: '..' }],
    [{ order: 'drain', tag: TAG, confirm: '1' }],
    [{ order: 'drain', servers: [] }],
    [{ order: 'drain', servers: ['a', 'a'] }],
    [{ order: 'drain', servers: [7] }],
    [{ order: 'drain', servers: 'all' }],
    [{ order: 'drain', confirm: 1 }],
    [{ order: 'drain', confirm: '1', force: true }],
    [{ order: 'undrain', confirm: '9' }],
  ])('refuses %j', async (body) => {
    const server = await rig.start(ADMINS);
    await refused(server, body);
    expect(await statusOf(server, '/health/ready')).toBe(200);
  });

  it('accepts a signed command from an address that sends wrong admin tokens', async () => {
    const server = await rig.start(ADMINS);
    const path = `/api/tags/${TAG}/pause`;
    const headers = { authorization: 'Bearer wrong-token' };
    const guess = (): ReturnType<typeof call> => call(server.port, path, { method: 'POST', headers });
    for (let failure = 0; failure < 10; failure++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
    expect((await asPeer(server, 'POST', path)).status).toBe(200);
  });

  it('is in the audit of both servers, with the name of the token', async () => {
    const log = new LogLines();
    try {
      const [first] = [await rig.start(LOGGED), await rig.start(LOGGED)];
      await command(first, { order: 'pause-tag', tag: TAG });
      const lines = log.entries.filter(({ context }) => context === 'Audit');
      expect(lines.map(({ message, who, tag }) => [message, who, tag]).sort()).toEqual([
        ['cluster order pause-tag', 'ops', TAG],
        ['pause tag', 'cluster:ops', TAG],
        ['pause tag', 'ops', TAG],
      ]);
      expect(lines.find(({ message }) => message === 'cluster order pause-tag')).toMatchObject({
        after: { done: 2, failed: [] },
      });
      expect(log.all.join('\n')).not.toContain(CLUSTER_TOKEN);
    } finally {
      log.end();
    }
  });
});

describe('the cluster token', () => {
  it('does not authorize a request by itself, nor by a signature for another server', async () => {
    const [one, other] = [await rig.start(ADMINS), await rig.start(ADMINS)];
    const drainRoute = ['POST', '/api/server/drain'] as const;
    const passed = signedFor(`127.0.0.1:${other.port}`, ...drainRoute, 'ops');
    const drain = async ({ port }: TestServer, authorization: string): Promise<number> =>
      (await call(port, drainRoute[1], { method: drainRoute[0], headers: { authorization } })).status;
    expect(await drain(one, `Bearer ${CLUSTER_TOKEN}`)).toBe(401);
    expect(await drain(one, passed)).toBe(401);
    expect(await statusOf(one, '/health/ready')).toBe(200);
    expect(await drain(other, passed)).toBe(200);
  });

  it('authorizes the four routes of commands, and no other route of the admin API', async () => {
    const server = await rig.start(ADMINS);
    for (const [method, path] of [
      ['POST', `/api/tags/${TAG}/pause`],
      ['POST', `/api/tags/${TAG}/resume`],
      ['POST', '/api/server/drain'],
      ['DELETE', '/api/server/drain'],
    ] as const) {
      expect([path, (await asPeer(server, method, path, 'ops')).status]).toEqual([path, 200]);
    }
    for (const [method, path] of [
      ['POST', '/api/tags'],
      ['PATCH', `/api/tags/${TAG}`],
      ['DELETE', `/api/tags/${TAG}`],
      ['POST', '/api/server/clients/billing/block'],
      ['POST', COMMANDS],
    ] as const) {
      expect([path, (await asPeer(server, method, path, 'ops')).status]).toEqual([path, 401]);
    }
  });

  it.each([undefined, 'ops"}', 'x'.repeat(33), 'a:b'])('does not put %j into the audit', async (actor) => {
    const log = new LogLines();
    try {
      const server = await rig.start(LOGGED);
      await asPeer(server, 'POST', `/api/tags/${TAG}/pause`, actor);
      const [line] = log.entries.filter(({ context }) => context === 'Audit');
      expect(line).toMatchObject({ message: 'pause tag', who: 'cluster:unknown' });
    } finally {
      log.end();
    }
  });
});
