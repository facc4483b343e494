import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { type Answer, call } from '../../support/http/http';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';

const SHOP = 'shop-token-0123456789';
const OTHER = 'other-token-0123456789';

let server: TestServer;

async function start(env: NodeJS.ProcessEnv = {}): Promise<void> {
  server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, ...env });
  const invoice = { tag: 'invoice', order: 'gapless', reset: 'yearly', pattern: '{YYYY}-{seq:3}' };
  for (const tag of [invoice, { tag: 'receipt', order: 'gapless' }]) {
    expect((await admin(server.port, 'POST', '/api/tags', tag)).status).toBe(201);
  }
}

afterEach(() => server.stop());

function send(method: string, path: string, body?: object, token?: string): Promise<Answer> {
  return call(server.port, `/api/numbers/${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function parsed(answer: Answer): unknown {
  return JSON.parse(answer.body);
}

describe('numbers over HTTP', () => {
  beforeEach(() => start());

  it('are new once, and the very same afterwards', async () => {
    const year = String(new Date().getUTCFullYear());
    const first = await send('PUT', 'invoice/order%204711%2F1');
    expect([first.status, parsed(first)]).toEqual([
      201,
      {
        ...{ tag: 'invoice', key: 'order 4711/1', period: year, number: '1', text: `${year}-001`, state: 'issued' },
        ...{ issuedAt: expect.stringMatching(/Z$/) as string, issuedBy: 'anonymous' },
      },
    ]);
    const again = await send('PUT', 'invoice/order%204711%2F1', {});
    expect([again.status, again.body]).toEqual([200, first.body]);
    const found = await send('GET', 'invoice/order%204711%2F1');
    expect([found.status, found.body]).toEqual([200, first.body]);
    const at = `${Number(year) - 1}-06-01T12:00:00Z`;
    expect(problemCode(await send('PUT', 'invoice/order%204711%2F1', { at }))).toBe('LEAF_NUMBER_EXISTS');
    expect(parsed(await send('PUT', 'invoice/other', { at }))).toMatchObject({ text: `${Number(year) - 1}-001` });
    expect(problemCode(await send('PUT', 'invoice/other', { at: 'yesterday' }))).toBe('LEAF_PERIOD_INVALID');
    // A date that would be ignored.
    expect(problemCode(await send('PUT', `invoice/third?at=${at}`))).toBe('LEAF_REQUEST_INVALID');
    expect(problemCode(await send('GET', 'invoice/third'))).toBe('LEAF_NUMBER_NOT_FOUND');
  });

  it('are given to many documents at once, in the order of their keys', async () => {
    await send('PUT', 'receipt/b');
    const answer = await send('PUT', 'receipt', { keys: ['a', 'b', 'c'] });
    expect(answer.status).toBe(201);
    expect((parsed(answer) as { numbers: { number: string }[] }).numbers.map(({ number }) => number)).toEqual([
      '2',
      '1',
      '3',
    ]);
    expect((await send('PUT', 'receipt', { keys: ['c', 'a'] })).status).toBe(200);
    const refused = await Promise.all([
      send('PUT', 'receipt', { keys: [] }),
      send('PUT', 'receipt', { keys: Array.from({ length: 1001 }, (_, index) => String(index)) }),
      send('PUT', 'receipt', { keys: ['a', 7] }),
      send('PUT', 'receipt'),
    ]);
    expect(refused.map(problemCode)).toEqual(Array(4).fill('LEAF_BODY_INVALID'));
    expect(problemCode(await send('PUT', 'receipt', { keys: ['d', ' '] }))).toBe('LEAF_REQUEST_INVALID');
    // Nothing of it was done.
    expect(parsed(await send('PUT', 'receipt/e'))).toMatchObject({ number: '4' });
  });

  it('are settled once', async () => {
    await send('PUT', 'receipt', { keys: ['a', 'b'] });
    const confirmed = await send('POST', 'receipt/a/confirm');
    expect([confirmed.status, parsed(confirmed)]).toMatchObject([200, { state: 'confirmed', settledBy: 'anonymous' }]);
    expect((await send('POST', 'receipt/a/confirm')).body).toBe(confirmed.body);
    expect(problemCode(await send('POST', 'receipt/a/void', { reason: 'mistake' }))).toBe('LEAF_NUMBER_SETTLED');
    expect(problemCode(await send('POST', 'receipt/b/void', { reason: ' ' }))).toBe('LEAF_BODY_INVALID');
    expect(problemCode(await send('POST', 'receipt/b/void'))).toBe('LEAF_BODY_INVALID');
    expect(parsed(await send('POST', 'receipt/b/void', { reason: 'torn' }))).toMatchObject({
      state: 'void',
      reason: 'torn',
    });
    expect(problemCode(await send('POST', 'receipt/z/confirm'))).toBe('LEAF_NUMBER_NOT_FOUND');
    expect(problemCode(await send('GET', 'receipt/z'))).toBe('LEAF_NUMBER_NOT_FOUND');
  });

  it('are listed page by page, with the filters of the first page', async () => {
    await send('PUT', 'receipt', { keys: ['a', 'b', 'c', 'd', 'e'] });
    await send('POST', 'receipt/c/confirm');
    const keys: string[] = [];
    for (let query: string | undefined = '?state=issued&limit=2'; query !== undefined;) {
      const page = await send('GET', `receipt${query}`);
      keys.push(...(parsed(page) as { key: string }[]).map(({ key }) => key));
      query = /<(\?.*)>; rel="next"/.exec(String(page.headers.link ?? ''))?.[1];
    }
    expect(keys).toEqual(['a', 'b', 'd', 'e']);
    for (const query of ['state=lost', 'after=1', 'limit=0', 'period=a&period=b']) {
      expect(problemCode(await send('GET', `receipt?${query}`))).toBe('LEAF_REQUEST_INVALID');
    }
    expect(problemCode(await send('GET', 'receipt?period=2026'))).toBe('LEAF_PERIOD_INVALID');
  });

  it('are audited, also as a table and to be printed', async () => {
    await send('PUT', 'receipt', { keys: ['=1+1', '<b>x</b>', 'a,"b"'] });
    await send('POST', 'receipt/=1+1/void', { reason: '@harmless' });
    expect(parsed(await send('GET', 'receipt/audit'))).toMatchObject({
      ...{ tag: 'receipt', first: '1', last: '3', contiguous: true, missing: [], chronological: true, intact: true },
      ...{ counts: { issued: 2, confirmed: 0, void: 1, reissued: 0 }, lines: 4 },
    });
    const table = await send('GET', 'receipt/audit?format=csv');
    expect(table.headers['content-type']).toBe('text/csv; charset=utf-8');
    const lines = table.body.split('\r\n');
    expect(lines).toHaveLength(5);
    expect(lines[1]).toMatch(/^1,,'=1\+1,void,.*,anonymous,'@harmless$/);
    expect(lines[3]).toMatch(/^3,,"a,""b""",issued,/);
    const page = await send('GET', 'receipt/audit?format=html');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.body).toContain('&lt;b&gt;x&lt;/b&gt;');
    expect(page.body).not.toContain('<b>x');
    expect(problemCode(await send('GET', 'receipt/audit?format=pdf'))).toBe('LEAF_REQUEST_INVALID');
  });

  it('go on where an admin says, and skipped ones are void with the reason', async () => {
    await send('PUT', 'receipt/a');
    const path = '/api/tags/receipt/continue';
    expect((await call(server.port, path, { method: 'POST' })).status).toBe(401);
    const answer = await admin(server.port, 'POST', path, { lastNumber: '3', reason: 'paper invoices' });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { tag: 'receipt', skipped: 2 }]);
    expect(parsed(await send('PUT', 'receipt/b'))).toMatchObject({ number: '4' });
    expect(parsed(await send('GET', 'receipt?state=void'))).toMatchObject([
      { number: '2', settledBy: 'admin', reason: 'paper invoices' },
      { number: '3' },
    ]);
    const far = { lastNumber: '3', reason: 'none', period: '2099' };
    const refused = await admin(server.port, 'POST', '/api/tags/invoice/continue', far);
    expect(JSON.parse(refused.body)).toMatchObject({ code: 'LEAF_PERIOD_INVALID' });
    const back = await admin(server.port, 'POST', path, { lastNumber: '2', reason: 'no' });
    expect(JSON.parse(back.body)).toMatchObject({ code: 'LEAF_MAX_ID_BACKWARDS' });
  });

  it('are of gapless tags alone, which serve no plain IDs, and can be paused', async () => {
    for (const path of ['get/receipt', 'batch/receipt?size=2', 'range/invoice', 'period/invoice']) {
      const answer = await call(server.port, `/api/segment/${path}`);
      expect([path, answer.status, problemCode(answer)]).toEqual([path, 409, 'LEAF_TAG_GAPLESS']);
    }
    expect(problemCode(await send('PUT', 'leaf-segment-test/a'))).toBe('LEAF_TAG_NOT_GAPLESS');
    expect(problemCode(await send('PUT', 'unknown/a'))).toBe('LEAF_TAG_NOT_FOUND');
    await admin(server.port, 'POST', '/api/tags/receipt/pause');
    expect(problemCode(await send('PUT', 'receipt/a'))).toBe('LEAF_TAG_PAUSED');
    await admin(server.port, 'POST', '/api/tags/receipt/resume');
    expect((await send('PUT', 'receipt/a')).status).toBe(201);
    expect((await admin(server.port, 'DELETE', '/api/tags/receipt')).status).toBe(409);
    const tag = (settings: object): Promise<{ status: number; body: string }> =>
      admin(server.port, 'POST', '/api/tags', { tag: 'new', order: 'gapless', ...settings });
    for (const settings of [
      { pattern: 'INV' },
      { pattern: '{MM}-{seq}' },
      { interleave: { of: 2, remainder: 0, block: 5 } },
      { order: 'strict', pattern: '{seq}' },
    ]) {
      expect(JSON.parse((await tag(settings)).body)).toMatchObject({ code: 'LEAF_BODY_INVALID' });
    }
    const change = await admin(server.port, 'PATCH', '/api/tags/receipt', { pattern: '{seq}' });
    expect(JSON.parse(change.body)).toMatchObject({ code: 'LEAF_BODY_INVALID' });
  });
});

describe('numbers with client tokens', () => {
  beforeEach(() =>
    start({
      LEAF_CLIENT_TOKENS: `shop:${SHOP},other:${OTHER}`,
      LEAF_CLIENT_QUOTAS: '{"other":{"tags":["invoice"],"idsPerSecond":1}}',
    }),
  );

  it('need one, of the tag, whose name is in the journal', async () => {
    for (const [method, path] of [
      ['PUT', 'receipt/a'],
      ['GET', 'receipt/a'],
      ['GET', 'receipt'],
      ['GET', 'receipt/audit'],
      ['POST', 'receipt/a/confirm'],
    ] as const) {
      expect([path, (await send(method, path)).status]).toEqual([path, 401]);
      expect([path, (await send(method, path, undefined, OTHER)).status]).toEqual([path, 403]);
    }
    expect(parsed(await send('PUT', 'receipt/a', {}, SHOP))).toMatchObject({ issuedBy: 'shop' });
    expect(parsed(await send('POST', 'receipt/a/confirm', undefined, ADMIN_TOKEN))).toMatchObject({
      settledBy: 'admin',
    });
  });

  it('charge the quota by the number of keys; what takes none is free', async () => {
    const keys = Array.from({ length: 61 }, (_, index) => `k${index}`);
    expect((await send('PUT', 'invoice', { keys }, OTHER)).status).toBe(429);
    expect((await send('PUT', 'invoice', { keys: keys.slice(0, 30) }, OTHER)).status).toBe(201);
    expect((await send('PUT', 'invoice/one', {}, OTHER)).status).toBe(429);
    expect((await send('POST', 'invoice/k1/confirm', undefined, OTHER)).status).toBe(200);
  });
});
