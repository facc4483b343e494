import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { insertTag } from '../../support/servers/data-directory';
import { freePort } from '../../support/free-port';
import { leaf, leafJson, type Ran } from '../../support/leaf-command';
import { startTestServer, type TestServer } from '../../support/servers/server';

const CLIENT_TOKEN = 'billing-token-0123456789';

describe('leaf with a server', () => {
  let server: TestServer;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_CLIENT_TOKENS: `billing:${CLIENT_TOKEN}` });
    env = { LEAF_URL: `http://127.0.0.1:${server.port}/`, LEAF_TOKEN: CLIENT_TOKEN };
  });
  afterAll(() => server.stop());

  async function create(tag: string, ...args: string[]): Promise<unknown> {
    return leafJson(['tags', 'create', tag, ...args], { ...env, LEAF_TOKEN: ADMIN_TOKEN });
  }

  it('takes exactly the IDs that it prints', async () => {
    await create('order', '--step', '100');
    expect(await leaf(['next', 'order'], env)).toEqual({ code: 0, out: '1\n', err: '' });
    expect(await leaf(['next', 'order', '-n', '3'], env)).toEqual({ code: 0, out: '2\n3\n4\n', err: '' });
    expect(await leafJson(['next', 'order', '-n', '2'], env)).toEqual({ tag: 'order', ids: ['5', '6'] });
    const { out } = await leaf(['range', 'order', '-n', '1000'], env);
    expect(out).toMatch(/^7 \d+\n(\d+ \d+\n)*\d+ 1006\n$/);
    expect(await leafJson(['range', 'order', '-n', '2'], env)).toEqual({
      tag: 'order',
      ranges: [{ from: '1007', to: '1008' }],
    });
  });

  it('prints numbers of a period by a pattern', async () => {
    insertTag(server.directory, { tag: 'receipt', step: 10, reset: 'yearly' });
    const year = new Date().getUTCFullYear();
    const format = ['--format', 'R +{YYYY}-{seq:3}'];
    expect(await leaf(['next', 'receipt', ...format], env)).toEqual({ code: 0, out: `R +${year}-001\n`, err: '' });
    expect(await leafJson(['next', 'receipt', '-n', '2', ...format], env)).toEqual({
      tag: 'receipt',
      texts: [`R +${year}-002`, `R +${year}-003`],
    });
    const { code, err } = await leaf(['next', 'receipt', '--format', '{MM}{seq}'], env);
    expect(code).toBe(1);
    expect(err).toMatch(/unknown placeholder \{MM\}; [^\n]+ \(LEAF_REQUEST_INVALID\)\n$/);
  });

  it('prints rows that were written by hand on one line each, without control characters', async () => {
    const tag = 'forged  1\r\nzz\u001b[2J\u009b31m\u202e';
    insertTag(server.directory, { tag, step: 10, description: tag });
    const shown = 'forged  1\\u000d\\u000azz\\u001b[2J\\u009b31m\\u202e';
    const { out, err } = await leaf(['tags', 'list', '--limit', '1'], env);
    const { out: json } = await leaf(['tags', 'list', '--json'], env);
    for (const text of [out, err, json]) expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(out.split('\n').filter((line) => line.includes('zz'))).toEqual([`${shown}  1        10    ${shown}`]);
    expect(err).toBe(`There are more tags: leaf tags list --after ${shown}\n`);
    expect(JSON.parse(json)).toMatchObject({ tags: expect.arrayContaining([expect.objectContaining({ tag })]) });
  });

  it('takes the IDs of a strict tag', async () => {
    expect(await create('invoice', '--order', 'strict', '--from', '10', '--max', '12')).toMatchObject({
      tag: 'invoice',
      maxId: '10',
      max: '12',
      order: 'strict',
    });
    expect(await leafJson(['next', 'invoice', '-n', '3'], env)).toEqual({ tag: 'invoice', ids: ['10', '11', '12'] });
    const { code, err } = await leaf(['next', 'invoice'], env);
    expect(code).toBe(1);
    expect(err).toContain('(LEAF_TAG_EXHAUSTED)');
  });

  it('gives documents their numbers without gaps', async () => {
    await create('invoice-number', '--order', 'gapless', '--reset', 'yearly', '--pattern', '{YYYY}-{seq:3}');
    const numbers = (...args: string[]): Promise<Ran> => leaf(['numbers', ...args], env);
    const at = ['--at', '2026-06-01T14:00:00+02:00'];
    expect(await numbers('issue', 'invoice-number', 'order 4711/1', 'b', 'c', ...at)).toEqual({
      ...{ code: 0, out: '2026-001\n2026-002\n2026-003\n', err: '' },
    });
    expect(await leafJson(['numbers', 'issue', 'invoice-number', 'b', ...at], env)).toMatchObject({
      tag: 'invoice-number',
      numbers: [{ key: 'b', number: '2', text: '2026-002', state: 'issued', issuedBy: 'billing' }],
    });
    expect(await leafJson(['numbers', 'confirm', 'invoice-number', 'order 4711/1'], env)).toMatchObject({
      ...{ key: 'order 4711/1', state: 'confirmed', settledBy: 'billing' },
    });
    expect(await leafJson(['numbers', 'void', 'invoice-number', 'b', '--reason', 'printer jam'], env)).toMatchObject({
      state: 'void',
      reason: 'printer jam',
    });
    // No document may show it.
    const settled = await numbers('issue', 'invoice-number', 'b');
    expect(settled).toMatchObject({ code: 1, out: '' });
    expect(settled.err).toContain('is void, which is final');
    expect((await numbers('show', 'invoice-number', 'c')).out).toMatch(/^number {4}3\ntext {6}2026-003\n/m);
    const page = await numbers('list', 'invoice-number', '--period', '2026', '--state', 'issued', '--limit', '1');
    expect(page).toMatchObject({ code: 0, err: '' });
    const { err } = await numbers('list', 'invoice-number', '--limit', '1');
    expect(err).toBe('There are more numbers: leaf numbers list invoice-number --after 2026~1~0\n');
    expect(await leafJson(['numbers', 'list', 'invoice-number', '--after', '2026~1~0'], env)).toMatchObject({
      numbers: [{ key: 'b' }, { key: 'c' }],
      next: null,
    });
    const goOn = ['numbers', 'continue', 'invoice-number', '--period', '2026', '--last', '5', '--reason', 'on paper'];
    expect((await leaf(goOn, env)).err).toContain('(LEAF_UNAUTHORIZED)');
    expect(await leafJson(goOn, { ...env, LEAF_TOKEN: ADMIN_TOKEN })).toEqual({
      ...{ tag: 'invoice-number', lastNumber: '5', skipped: 2 },
    });
    const audit = await numbers('audit', 'invoice-number', '--period', '2026');
    expect(audit).toMatchObject({ code: 0, err: '' });
    expect(audit.out).toMatch(/^void {11}3\n/m);
    const refused = await numbers('show', 'invoice-number', 'audit');
    expect(refused.err).toContain('"audit" is not a valid key');
    expect((await numbers('show', 'order', 'a')).err).toContain('(LEAF_TAG_NOT_GAPLESS)');
    expect((await numbers('issue', 'nothing', 'a')).err).toContain('leaf tags create nothing --order gapless');
  });

  it('takes snowflake IDs, and decodes them by the layout of the server', async () => {
    const { ids } = await leafJson<{ ids: string[] }>(['snowflake', '-n', '5'], env);
    expect(new Set(ids).size).toBe(5);
    expect(await leafJson(['decode', ids[0]!], env)).toEqual(await leafJson(['decode', ids[0]!]));
    const other = await startTestServer({ LEAF_SNOWFLAKE_BITS: '41,9,13' });
    try {
      const url = ['--url', `http://127.0.0.1:${other.port}`];
      const [own, standard] = [await leafJson(['decode', '8191', ...url]), await leafJson(['decode', '8191'])];
      expect([own, standard]).toMatchObject([
        { workerId: 0, sequence: 8191 },
        { workerId: 1, sequence: 4095 },
      ]);
    } finally {
      await other.stop();
    }
  });

  it('lists tags page by page', async () => {
    for (const tag of ['a1', 'a2', 'a3']) await create(tag, '--description', `the tag ${tag}`);
    const { code, out, err } = await leaf(['tags', '--limit', '2'], env);
    expect({ code, err }).toEqual({ code: 0, err: 'There are more tags: leaf tags list --after a2\n' });
    expect(out).toMatch(/^TAG +NEXT ID +STEP +DESCRIPTION\na1 +1 +2000 +the tag a1\na2 +1 +2000 +the tag a2\n$/);
    const page = await leafJson<{ tags: { tag: string }[]; next: string }>(
      ['tags', 'list', '--after', 'a1', '--limit', '1'],
      env,
    );
    expect([page.tags.map(({ tag }) => tag), page.next]).toEqual([['a2'], 'a2']);
    const last = await leafJson<{ next: unknown }>(['tags', 'list', '--after', 'a3'], env);
    expect(last.next).toBeNull();
    expect(await leafJson(['tags', 'get', 'a3'], env)).toMatchObject({ tag: 'a3', description: 'the tag a3' });
    expect((await leaf(['tags', 'get', 'a3'], env)).out).toMatch(/^tag {10}a3\nmaxId {8}1\n/);
  });

  it('reports what a refusal needs in one line', async () => {
    const refused = async (args: string[], token?: string): Promise<string> => {
      const { code, out, err } = await leaf(args, { LEAF_URL: env.LEAF_URL, LEAF_TOKEN: token });
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^leaf: [^\n]+\n$/);
      return err;
    };
    const unknown = 'leaf: Tag "nothing" does not exist. Create it: leaf tags create nothing (LEAF_TAG_NOT_FOUND)\n';
    expect(await refused(['next', 'nothing'], CLIENT_TOKEN)).toBe(unknown);
    expect(await refused(['range', 'nothing', '-n', '5'], CLIENT_TOKEN)).toBe(unknown);
    expect(await refused(['tags', 'get', 'nothing'])).toBe(unknown);
    for (const args of [['next', 'order'], ['snowflake'], ['tags', 'create', 'x']]) {
      expect(await refused(args)).toContain('requires a token. Set LEAF_TOKEN');
      expect(await refused(args, 'a-wrong-token-0123456789')).toContain('does not accept the token.');
    }
    expect(await refused(['tags', 'create', 'leaf-segment-test'], ADMIN_TOKEN)).toContain('(LEAF_TAG_EXISTS)');
    expect(await refused(['next', 'a/b'], CLIENT_TOKEN)).toContain('(LEAF_TAG_INVALID)');
    expect(await refused(['next', 'order'], 'two words')).toContain('token contains characters');
  });

  it('reads the token from a file', async () => {
    const file = join(server.directory, 'token');
    writeFileSync(file, `${CLIENT_TOKEN}\n`);
    const args = ['snowflake', '--token-file', file];
    expect((await leaf(args, { LEAF_URL: env.LEAF_URL, LEAF_TOKEN: 'wrong-token-0123456789' })).code).toBe(0);
  });

  it('check shows the parts of the server, and fails while it is not ready', async () => {
    const ready = await leaf(['check'], env);
    expect(ready).toMatchObject({ code: 0, err: '' });
    expect(ready.out).toMatch(/^PART +STATE\ndrain +up\nsegment +up\nsnowflake +up\n\nThe server is ready\.\n$/);
    expect(await leafJson(['check'], env)).toMatchObject({ status: 'ok', state: 'ready', reason: null });
    expect((await leaf(['check', '--strict'], env)).code).toBe(0);
    await admin(server.port, 'POST', '/api/server/drain');
    try {
      const { code, out } = await leaf(['check'], env);
      expect(code).toBe(1);
      expect(out).toMatch(/^drain +down/m);
      expect(out).toMatch(/^The server is not ready: draining: .*drain/m);
      const { out: json } = await leaf(['check', '--json'], env);
      expect(JSON.parse(json)).toMatchObject({ status: 'error', state: 'draining' });
    } finally {
      await admin(server.port, 'DELETE', '/api/server/drain');
    }
  });
});

describe('leaf check with a server that is degraded', () => {
  const overview = { state: 'degraded', reason: 'The database is away.' };
  const message = 'The tag "order" refuses its calls.';
  const health = { status: 'degraded', details: { segment: { status: 'degraded', message }, drain: { status: 'up' } } };

  it.each([
    ['with its monitoring API', overview, overview.reason],
    ['without it', undefined, message],
  ])('says so %s, and fails with --strict', async (_how, shown, reason) => {
    const server = createServer(({ url }, response) => {
      const body = url === '/health/ready' ? health : shown;
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? {}));
    }).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const env = { LEAF_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      const { code, out } = await leaf(['check'], env);
      expect(code).toBe(0);
      expect(out).toContain(`\nThe server is degraded: ${reason}\n`);
      expect(await leaf(['check', '--strict'], env)).toEqual({ code: 1, out, err: '' });
      expect(await leafJson(['check'], env)).toMatchObject({ status: 'degraded', state: 'degraded', reason });
    } finally {
      server.close();
    }
  });
});

describe('leaf without a server', () => {
  const COMMANDS = [['next', 'order'], ['snowflake'], ['decode', '5'], ['tags'], ['check']];

  function expectUnavailable({ code, out, err }: Ran, url: string): void {
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^leaf: The server [^\n]+ \(LEAF_SERVERS_UNAVAILABLE\)\n$/);
    expect(err).toContain(`The server ${url} cannot be used: `);
    expect(err).toContain('Start it, or name another one with --url or LEAF_URL.');
  }

  it.each(COMMANDS)('%s names the address where nothing listens', async (...args) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expectUnavailable(await leaf([...args, '--url', url, '--timeout', '300']), url);
  });

  describe('but with another program', () => {
    let other: Server;

    beforeAll(async () => {
      other = createServer((_, response) => response.end('<p>Welcome</p>'));
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => other.close());

    it.each(COMMANDS)('%s names its address', async (...args) => {
      const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      expectUnavailable(await leaf([...args, '--url', url, '--timeout', '300']), url);
    });
  });
});
