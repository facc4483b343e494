import type { OutgoingHttpHeaders } from 'node:http';
import { admin } from '../../support/http/admin';
import { type Answer, call, text } from '../../support/http/http';
import { LogLines } from '../../support/log-lines';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';

const TAG = 'leaf-segment-test';
const OPS = 'ops-token-0123456789';
const CI = 'ci-token-0123456789';
const EXPIRED = 'expired-token-0123456789';
const TOKENS = `ops:${OPS},ci:${CI}@2999-12-31,old:${EXPIRED}@2020-01-31`;
const DAY = '2020-01-31';

/** Every request that would change something. */
const CHANGES = [
  ['POST', '/api/tags', { tag: 'intruder', step: 1 }],
  ['PATCH', `/api/tags/${TAG}`, { step: 1, maxId: '1000000', description: 'x' }],
  ['POST', `/api/tags/${TAG}/pause`, undefined],
  ['POST', '/api/tags/paused/resume', undefined],
  ['DELETE', `/api/tags/${TAG}`, undefined],
  ['POST', '/api/server/drain', undefined],
  ['DELETE', '/api/server/drain', undefined],
] as const;

const WRONG = [
  ['no token', undefined],
  ['an empty one', ''],
  ['a wrong token', 'Bearer wrong-token-0123456789'],
  ['an expired token', `Bearer ${EXPIRED}`],
  ['a token with more behind it', `Bearer ${OPS}x`],
  ['a token with less', `Bearer ${OPS.slice(0, -1)}`],
  ['the name with the token', `Bearer ops:${OPS}`],
  ['the token with its end', `Bearer ${EXPIRED}@${DAY}`],
  ['all tokens', `Bearer ${TOKENS}`],
  ['the token alone', OPS],
  ['another scheme', `Basic ${Buffer.from(`ops:${OPS}`).toString('base64')}`],
  ['another scheme with the token', `Digest ${OPS}`],
  ['a NUL-like name', 'Bearer __proto__'],
] as const;

let server: TestServer;
let log: LogLines;

/** Failures are counted by address: a server for each test. */
beforeEach(async () => {
  log = new LogLines();
  server = await startTestServer({ LEAF_ADMIN_TOKEN: TOKENS, LEAF_LOG_LEVEL: 'info', LEAF_LOG_FORMAT: 'json' });
  await admin(server.port, 'POST', '/api/tags', { tag: 'paused', step: 1 }, OPS);
  await admin(server.port, 'POST', '/api/tags/paused/pause', undefined, OPS);
});

afterEach(async () => {
  await server.stop();
  log.end();
  const secrets = log.all.filter((line) => [OPS, CI, EXPIRED].some((token) => line.includes(token)));
  expect(secrets).toStrictEqual([]);
});

/** The fields of the audit lines of this level. */
function auditLines(level = 'info'): Record<string, unknown>[] {
  const lines = log.entries.filter((line) => line.context === 'Audit' && line.level === level);
  return lines.map(({ level: _level, time: _time, pid: _pid, context: _context, ...fields }) => fields);
}

function attempt(
  port: number,
  [method, path, body]: (typeof CHANGES)[number],
  authorization?: string,
): Promise<Answer> {
  const headers: OutgoingHttpHeaders = { 'content-type': 'application/json' };
  if (authorization !== undefined) headers.authorization = authorization;
  if (body === undefined) delete headers['content-type'];
  return call(port, path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}

/** All that an intruder could change, but for the IDs that the look itself takes. */
async function state({ port }: TestServer): Promise<unknown> {
  const paused = await call(port, '/api/segment/get/paused');
  const ready = await call(port, '/health/ready');
  const tags = await text(port, '/api/tags');
  return { tags, paused: paused.status, ready: ready.status };
}

describe('a change', () => {
  it.each(WRONG)('with %s is refused, and nothing changed', async (what, authorization) => {
    await text(server.port, `/api/segment/get/${TAG}`);
    const before = await state(server);
    const audited = auditLines().length;
    for (const change of CHANGES) {
      const answer = await attempt(server.port, change, authorization);
      expect([change[0], change[1], problemCode(answer)]).toEqual([change[0], change[1], 'LEAF_UNAUTHORIZED']);
      const challenge = answer.headers['www-authenticate'];
      expect(challenge).toBe(
        what === 'no token' ? 'Bearer realm="leaf"' : 'Bearer realm="leaf", error="invalid_token"',
      );
      expect(answer.body).not.toContain('0123456789');
    }
    expect(await state(server)).toEqual(before);
    expect(await text(server.port, `/api/segment/get/${TAG}`)).toBe('2');
    expect(auditLines()).toHaveLength(audited);
    expect(auditLines('warn')).toHaveLength(CHANGES.length);
    expect(auditLines('warn')[0]?.message).toBe('Refused: POST /api/tags from 127.0.0.1 without a valid token.');
  });

  it('with a bad body and no token is refused for want of the token', async () => {
    const answer = await call(server.port, '/api/tags', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"step":"no"}',
    });
    expect(problemCode(answer)).toBe('LEAF_UNAUTHORIZED');
  });

  it.each([
    ['ops', OPS],
    ['ci', CI],
  ])('with the token of %s is made', async (_name, token) => {
    for (const change of CHANGES) {
      expect((await attempt(server.port, change, `bearer ${token}`)).status).toBeLessThan(300);
    }
  });
});

describe('the audit log', () => {
  it('has a line for every change: who, from where, what, before and after', async () => {
    const { port } = server;
    await admin(port, 'POST', '/api/tags', { tag: 'order', step: 10, description: 'a "b"' }, CI);
    await admin(port, 'PATCH', '/api/tags/order', { step: 20, maxId: '99' }, OPS);
    await admin(port, 'POST', '/api/tags/order/pause', undefined, CI);
    await admin(port, 'POST', '/api/tags/order/pause', undefined, CI);
    await admin(port, 'POST', '/api/tags/order/resume', undefined, CI);
    await admin(port, 'DELETE', '/api/tags/order', undefined, OPS);
    await admin(port, 'POST', '/api/server/drain', undefined, CI);
    await admin(port, 'DELETE', '/api/server/drain', undefined, OPS);
    const updatedAt = expect.any(String);
    const made = { tag: 'order', maxId: '1', step: 10, description: 'a "b"', updatedAt };
    const changed = { ...made, maxId: '99', step: 20 };
    const [from, tag] = ['127.0.0.1', 'order'];
    expect(auditLines().slice(2)).toEqual([
      { message: 'create tag', who: 'ci', from, tag, after: made },
      { message: 'change tag', who: 'ops', from, tag, before: made, after: changed },
      { message: 'pause tag', who: 'ci', from, tag, before: { paused: false }, after: { paused: true } },
      { message: 'pause tag', who: 'ci', from, tag, before: { paused: true }, after: { paused: true } },
      { message: 'resume tag', who: 'ci', from, tag, before: { paused: true }, after: { paused: false } },
      { message: 'delete tag', who: 'ops', from, tag, before: changed },
      { message: 'drain server', who: 'ci', from, before: { draining: false }, after: { draining: true } },
      { message: 'undo drain of server', who: 'ops', from, before: { draining: true }, after: { draining: false } },
    ]);
  });

  it('says what failed', async () => {
    await admin(server.port, 'POST', '/api/tags', { tag: TAG, step: 10 }, CI);
    expect(auditLines()).toHaveLength(2);
    expect(auditLines('warn')).toEqual([
      { message: 'create tag', who: 'ci', from: '127.0.0.1', tag: TAG, failed: expect.stringContaining(TAG) },
    ]);
  });
});

describe('failures', () => {
  it('are limited, and leave the valid tokens of the address valid', async () => {
    const { port } = server;
    const wrong = (): Promise<Answer> => admin(port, 'DELETE', `/api/tags/${TAG}`, undefined, 'guess');
    for (let n = 0; n < 10; n++) expect(problemCode(await wrong())).toBe('LEAF_UNAUTHORIZED');
    for (let n = 0; n < 5; n++) {
      const answer = await wrong();
      expect(problemCode(answer)).toBe('LEAF_TOO_MANY_FAILURES');
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    expect(auditLines('warn')).toHaveLength(10);
    const valid = await admin(port, 'PATCH', `/api/tags/${TAG}`, { step: 5 }, OPS);
    expect(valid.status).toBe(200);
    expect(problemCode(await wrong())).toBe('LEAF_TOO_MANY_FAILURES');
  });

  it('are not what pages of other sites cause without a token', async () => {
    const { port } = server;
    const drain = (headers: OutgoingHttpHeaders): Promise<Answer> =>
      call(port, '/api/server/drain', { method: 'POST', headers });
    for (const site of ['cross-site', 'same-site']) {
      for (let n = 0; n < 12; n++) {
        expect(problemCode(await drain({ 'sec-fetch-site': site }))).toBe('LEAF_UNAUTHORIZED');
      }
    }
    expect(auditLines('warn')).toStrictEqual([]);
    const guess = { 'sec-fetch-site': 'cross-site', authorization: 'Bearer guess' };
    for (let n = 0; n < 10; n++) expect(problemCode(await drain(guess))).toBe('LEAF_UNAUTHORIZED');
    expect(problemCode(await drain(guess))).toBe('LEAF_TOO_MANY_FAILURES');
  });
});

describe('tokens', () => {
  it('are rotated: both hold, then the new one alone', async () => {
    const change = (target: TestServer, token: string): Promise<Answer> =>
      admin(target.port, 'PATCH', `/api/tags/${TAG}`, { step: 7 }, token);
    const statuses: number[][] = [];
    for (const tokens of [`a:${OPS}`, `a:${OPS},b:${CI}`, `a:${OPS}@2020-01-31,b:${CI}`, `b:${CI}`]) {
      const next = await startTestServer({ LEAF_ADMIN_TOKEN: tokens });
      statuses.push([(await change(next, OPS)).status, (await change(next, CI)).status]);
      await next.stop();
    }
    expect(statuses).toEqual([
      [200, 401],
      [200, 200],
      [401, 200],
      [401, 200],
    ]);
  });

  it('are made and logged once when there is none', async () => {
    const next = await startTestServer({ LEAF_LOG_LEVEL: 'info', LEAF_LOG_FORMAT: 'json' });
    try {
      const lines = log.all.filter((line) => line.includes('LEAF_ADMIN_TOKEN'));
      expect(lines).toHaveLength(1);
      const token = /: ([\w-]{32})"/.exec(lines[0]!)?.[1] ?? '';
      expect((await admin(next.port, 'POST', '/api/server/drain', undefined, token)).status).toBe(200);
      expect((await admin(next.port, 'POST', '/api/server/drain', undefined, OPS)).status).toBe(401);
      expect(log.all.filter((line) => line.includes(token))).toHaveLength(1);
    } finally {
      await next.stop();
    }
  });
});
