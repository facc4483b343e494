import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LeafClient } from '@leaf-ids/client';
import type { OverviewView } from '../../apps/leaf-server/src/monitor/views/views';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { type Answer, call, json } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { LogLines } from '../support/log-lines';
import { ApiContract, fetchApi } from '../support/openapi/contract';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const BILLING = 'billing-token-0123456789';
const SHOP = 'shop-token-0123456789';
const LIMITED = 'limited-token-0123456789';
const ENV = {
  LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
  LEAF_CLIENT_TOKENS: `billing:${BILLING},shop:${SHOP},limited:${LIMITED}`,
  LEAF_CLIENT_QUOTAS: `{"shop":{"tags":["strict","monthly"]},"limited":{"idsPerSecond":1}}`,
};
const SINGLE = `/api/segment/get/${TAG}`;
/** Every route that issues IDs, each answered with one ID. */
const ID_ROUTES = [
  SINGLE,
  `/api/segment/batch/${TAG}?size=1`,
  `/api/segment/range/${TAG}?size=1&nonce=a`,
  '/api/segment/get/strict',
  '/api/segment/period/monthly',
  '/api/snowflake/get/order',
  '/api/snowflake/batch/order?size=1',
];
const OPEN_ROUTES = ['/api/snowflake/decode/1', '/api/internal/time', '/api/tags', '/health/live', '/metrics'];

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function start(env: NodeJS.ProcessEnv = {}, fastPath = true): Promise<number> {
  server = await startTestServer({ ...ENV, ...env }, { fastPath });
  for (const settings of [
    { tag: 'strict', step: 10, order: 'strict' },
    { tag: 'monthly', step: 10, reset: 'monthly' },
  ]) {
    expect((await admin(server.port, 'POST', '/api/tags', settings)).status).toBe(201);
  }
  return server.port;
}

function take(port: number, path: string, authorization?: string): Promise<Answer> {
  return call(port, path, authorization === undefined ? {} : { headers: { authorization } });
}

const bearer = (token: string): string => `Bearer ${token}`;
const basic = (password: string): string => `Basic ${Buffer.from(`any:${password}`).toString('base64')}`;

describe.each([true, false])('With client tokens, %s for the fast path', (fastPath) => {
  it('every ID route requires a token, and no other route does', async () => {
    const port = await start({}, fastPath);
    for (const path of ID_ROUTES) {
      for (const method of ['GET', 'HEAD']) {
        const refused = await call(port, path, { method });
        expect([path, refused.status]).toEqual([path, 401]);
        expect(refused.headers['www-authenticate']).toBe('Bearer realm="leaf"');
      }
      for (const authorization of [bearer(BILLING), bearer(BILLING), basic(BILLING), bearer(ADMIN_TOKEN)]) {
        const { status, body } = await take(port, path, authorization);
        expect([path, status, body]).toEqual([path, 200, expect.stringMatching(/\d/)]);
      }
    }
    for (const path of OPEN_ROUTES) expect([path, (await take(port, path)).status]).toEqual([path, 200]);
    // Four IDs of each of three routes; the refused requests took none.
    expect((await take(port, SINGLE, bearer(BILLING))).body).toBe('13');
  });

  it('a wrong token is refused, ten of them limit the address, and a request without one counts for nothing', async () => {
    const port = await start({}, fastPath);
    expect((await take(port, SINGLE, bearer(BILLING))).status).toBe(200);
    for (let n = 0; n < 20; n++) expect(problemCode(await take(port, SINGLE))).toBe('LEAF_UNAUTHORIZED');
    for (let n = 0; n < 10; n++) {
      const refused = await take(port, SINGLE, [bearer(`${BILLING}x`), basic(`${BILLING}x`)][n % 2]);
      expect(problemCode(refused)).toBe('LEAF_UNAUTHORIZED');
      expect(refused.headers['www-authenticate']).toBe('Bearer realm="leaf", error="invalid_token"');
      expect(refused.body).not.toContain('0123456789');
    }
    expect(problemCode(await take(port, SINGLE, bearer('x')))).toBe('LEAF_TOO_MANY_FAILURES');
    // Valid ones are accepted, whether the server has seen them before or not.
    for (const token of [bearer(BILLING), basic(LIMITED), bearer(ADMIN_TOKEN)]) {
      expect((await take(port, SINGLE, token)).status).toBe(200);
    }
    expect((await admin(port, 'POST', '/api/server/drain')).status).toBe(200);
  });

  it('a client token does not open the admin API', async () => {
    const port = await start({}, fastPath);
    const answer = await admin(port, 'POST', '/api/server/drain', undefined, BILLING);
    expect(problemCode(answer)).toBe('LEAF_UNAUTHORIZED');
  });

  it('a token takes only its tags', async () => {
    const port = await start({}, fastPath);
    for (const path of ID_ROUTES) {
      const answer = await take(port, path, bearer(SHOP));
      const code = answer.status === 200 ? undefined : problemCode(answer);
      expect([path, code]).toEqual([path, /strict|monthly/.test(path) ? undefined : 'LEAF_FORBIDDEN']);
    }
    expect((await take(port, SINGLE, bearer(BILLING))).body).toBe('1');
  });

  it('a call beyond the quota takes nothing and says when to retry', async () => {
    const port = await start({}, fastPath);
    const ranges = `/api/segment/range/${TAG}`;
    expect(problemCode(await take(port, `${ranges}?size=61`, bearer(LIMITED)))).toBe('LEAF_QUOTA_EXCEEDED');
    // Errors are not charged.
    for (const path of [`${ranges}?size=0`, '/api/segment/get/unknown']) {
      expect((await take(port, path, bearer(LIMITED))).status).toBeGreaterThanOrEqual(400);
    }
    expect((await take(port, `${ranges}?size=60`, bearer(LIMITED))).status).toBe(200);
    for (const path of [SINGLE, `${ranges}?size=1`, '/api/snowflake/get/order']) {
      const refused = await take(port, path, bearer(LIMITED));
      expect(problemCode(refused)).toBe('LEAF_QUOTA_EXCEEDED');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(refused.body).toMatch(/The quota grants the next ID in \d{5} ms\./);
    }
    expect((await take(port, SINGLE, bearer(BILLING))).body).toBe('61');
  });
});

describe('A blocked client', () => {
  it('gets no ID until it is unblocked; the audit log and the monitor show it', async () => {
    const log = new LogLines();
    const port = await start({ LEAF_LOG_LEVEL: 'info', LEAF_LOG_FORMAT: 'json' });
    const blocked = async (): Promise<readonly string[]> =>
      (await json<OverviewView>(port, '/api/monitor/overview')).blockedClients;
    expect((await take(port, SINGLE, bearer(BILLING))).body).toBe('1');
    const path = '/api/server/clients/billing/block';
    expect(JSON.parse((await admin(port, 'POST', path)).body)).toEqual({ client: 'billing', blocked: true });
    for (const route of ID_ROUTES) {
      expect(problemCode(await take(port, route, bearer(BILLING)))).toBe('LEAF_FORBIDDEN');
    }
    expect(await blocked()).toEqual(['billing']);
    expect((await take(port, '/api/segment/get/strict', bearer(SHOP))).status).toBe(200);
    expect(JSON.parse((await admin(port, 'DELETE', path)).body)).toEqual({ client: 'billing', blocked: false });
    expect((await take(port, SINGLE, bearer(BILLING))).body).toBe('2');
    expect(await blocked()).toStrictEqual([]);
    log.end();
    const audited = log.all.filter((line) => line.includes('block client'));
    expect(audited).toHaveLength(2);
    expect(audited[0]).toContain('billing');
  });

  it('must have a token', async () => {
    const port = await start();
    for (const method of ['POST', 'DELETE']) {
      const answer = await admin(port, method, '/api/server/clients/biling/block');
      expect(problemCode(answer)).toBe('LEAF_CLIENT_NOT_FOUND');
    }
  });
});

describe.each([true, false])('Behind a proxy, %s for the fast path', (fastPath) => {
  it('each client has its own limit of failures, whatever port the proxy writes, and valid tokens pass', async () => {
    const port = await start({ LEAF_TRUSTED_PROXIES: '127.0.0.1' }, fastPath);
    const from = (client: string, token: string): Promise<Answer> =>
      call(port, SINGLE, { headers: { authorization: bearer(token), 'x-forwarded-for': client } });
    expect((await from('203.0.113.7:4711', BILLING)).body).toBe('1');
    for (let n = 0; n < 10; n++) {
      expect(problemCode(await from(`203.0.113.7:${n}`, 'wrong'))).toBe('LEAF_UNAUTHORIZED');
    }
    expect(problemCode(await from('203.0.113.7:10', 'wrong'))).toBe('LEAF_TOO_MANY_FAILURES');
    expect(problemCode(await from('203.0.113.8', 'wrong'))).toBe('LEAF_UNAUTHORIZED');
    expect([await from('203.0.113.7:11', BILLING), await from('203.0.113.8', BILLING)]).toMatchObject([
      { status: 200, body: '2' },
      { status: 200, body: '3' },
    ]);
  });
});

it('client tokens in a file are read again when it changes', async () => {
  const directory = await makeDataDirectory();
  try {
    const file = join(directory, 'client-tokens');
    await writeFile(file, `billing:${BILLING}`);
    const port = await start({ LEAF_CLIENT_TOKENS: '', LEAF_CLIENT_TOKENS_FILE: file, LEAF_CLIENT_QUOTAS: undefined });
    expect((await take(port, SINGLE, bearer(BILLING))).status).toBe(200);
    await writeFile(file, `shop:${SHOP}`);
    await until('the old token is refused', async () => (await take(port, SINGLE, bearer(BILLING))).status === 401);
    expect((await take(port, SINGLE, bearer(SHOP))).status).toBe(200);
  } finally {
    await removeDataDirectory(directory);
  }
});

it('the OpenAPI document requires a token of the ID routes, and describes every refusal', async () => {
  const port = await start();
  const contract = new ApiContract(await fetchApi(port));
  const secured = contract.routes.flatMap(({ path, operation: { security } }) =>
    JSON.stringify(security) === '[{"bearer":[]},{"basic":[]}]' ? [path] : [],
  );
  // Six of IDs, and seven of numbers.
  expect(secured).toHaveLength(13);
  const route = contract.route('takeSegmentId');
  for (const token of ['', BILLING, SHOP, LIMITED, LIMITED]) {
    const answer = await take(port, SINGLE, bearer(token));
    expect(contract.faultOf(route, answer)).toBeUndefined();
  }
});

it.each([
  ['a string', BILLING],
  ['a function', () => Promise.resolve(BILLING)],
])('LeafClient sends %s as its token', async (_, token) => {
  const port = await start();
  const servers = [`http://127.0.0.1:${port}`];
  const [client, stranger] = [new LeafClient({ servers, token }), new LeafClient({ servers })];
  try {
    expect(await client.nextId(TAG)).toBe(1n);
    expect(await client.snowflakes(1)).toHaveLength(1);
    await expect(stranger.nextId(TAG)).rejects.toMatchObject({ code: 'LEAF_UNAUTHORIZED' });
  } finally {
    await Promise.all([client.close(), stranger.close()]);
  }
});

it('LeafClient rejects when its token function fails, and ejects no server', async () => {
  const port = await start();
  let token = (): string => {
    throw new Error('no secret yet');
  };
  const client = new LeafClient({ servers: [`http://127.0.0.1:${port}`], token: () => token() });
  try {
    for (let n = 0; n < 3; n++) await expect(client.nextId(TAG)).rejects.toMatchObject({ code: 'LEAF_UNAUTHORIZED' });
    expect(client.snapshot().servers[0]).toMatchObject({ state: 'serving', failures: 0 });
    token = () => BILLING;
    // The client repeats a refusal for a moment before it asks again.
    expect(await until('an ID', () => client.nextId(TAG).catch(() => undefined))).toBe(1n);
  } finally {
    await client.close();
  }
});
