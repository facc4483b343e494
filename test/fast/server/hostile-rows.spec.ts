import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { insertTag } from '../../support/servers/data-directory';
import { call, json, text } from '../../support/http/http';
import { LogLines } from '../../support/log-lines';
import { startTestServer, type TestServer } from '../../support/servers/server';

const SCRIPT = `</td></script><script>alert(1)</script><img src=x onerror="alert('2')">`;
const TERMINAL = '\r\n[Leaf] 1 LOG forged\u001b[2J\u009b31m\u202e';
const SQL = `x', 1, 1); DROP TABLE leaf_alloc; --`;
/** Names that somebody wrote into the table by hand. */
const ROWS = [SCRIPT, TERMINAL, SQL, '__proto__', 'constructor', '../../../etc/passwd', 'a'.repeat(500)];

let server: TestServer;
let log: LogLines;
beforeAll(async () => {
  log = new LogLines();
  server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_LOG_LEVEL: 'debug', LEAF_LOG_FORMAT: 'pretty' });
  insertTag(server.directory, ...ROWS.map((tag) => ({ tag, step: 10, description: tag })));
});
afterAll(async () => {
  await server.stop();
  log.end();
});

it('rows that were written by hand are shown as text, wherever they are shown', async () => {
  for (const path of ['/db', '/cache', '/docs', '/metrics', '/api/tags', '/api/monitor/segments', '/openapi.json']) {
    const { status, headers, body } = await call(server.port, path);
    expect([path, status]).toEqual([path, 200]);
    if (headers['content-type']?.includes('html') === true)
      expect(body).not.toMatch(/<script(?! src="docs\/[\w.-]+"><\/script>)|<img|onerror="/);
    else expect(headers['x-content-type-options']).toBe('nosniff');
    expect(body).not.toMatch(/[\0\x1b]/);
  }
  const rows = await json<{ tag: string; description: string }[]>(server.port, '/api/tags');
  expect(rows.map(({ tag }) => tag)).toEqual(expect.arrayContaining(ROWS));
});

it('none of them is a tag, or a statement', async () => {
  for (const tag of ROWS) {
    for (const route of ['segment/get', 'segment/batch', 'segment/range', 'tags']) {
      const { status } = await call(server.port, `/api/${route}/${encodeURIComponent(tag)}`);
      const isTag = /^[\w.:-]{1,128}$/.test(tag);
      expect([tag, route, status]).toEqual([tag, route, isTag ? 200 : 400]);
    }
  }
  expect(await json<unknown[]>(server.port, '/api/tags')).toHaveLength(ROWS.length + 1);
});

it('a description goes through every page and the audit log as it is, on one line', async () => {
  const description = `it's "${SCRIPT}" \\' ; DROP TABLE leaf_alloc; -- \${jndi:ldap://x} {{7*7}} %s%n`;
  for (const [method, path, body] of [
    ['POST', '/api/tags', { tag: 'order', step: 5, description }],
    ['PATCH', '/api/tags/order', { description: `${description}!` }],
    ['DELETE', '/api/tags/order', undefined],
  ] as const) {
    expect((await admin(server.port, method, path, body)).status).toBeLessThan(300);
    if (method !== 'DELETE') {
      const shown = await json<{ description: string }>(server.port, '/api/tags/order');
      expect(shown.description).toBe(body.description);
    }
  }
  const lines = log.all.filter((line) => line.includes('"tag":"order"'));
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    expect(JSON.parse(line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1))).toMatchObject({ tag: 'order' });
  }
  expect(await text(server.port, '/api/segment/get/leaf-segment-test')).toMatch(/^\d+$/);
});

it('no line of the log is one that nobody wrote', () => {
  expect(log.all.filter((line) => line.includes('forged') && line.startsWith('[Leaf] 1 '))).toStrictEqual([]);
  expect(log.all.join('').replaceAll(/\x1b\[[\d;]+m/g, '')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
});
