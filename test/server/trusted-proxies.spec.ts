import { ADMIN_TOKEN } from '../support/http/admin';
import { type Answer, call } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { LogLines } from '../support/log-lines';
import { startTestServer, type TestServer } from '../support/servers/server';

const MAX_FAILURES = 10;

let server: TestServer;
let log: LogLines;

async function start(env: NodeJS.ProcessEnv): Promise<void> {
  log = new LogLines();
  server = await startTestServer({
    LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
    LEAF_LOG_LEVEL: 'info',
    LEAF_LOG_FORMAT: 'json',
    ...env,
  });
}

afterEach(async () => {
  await server.stop();
  log.end();
});

function pause(client: string, token = ADMIN_TOKEN): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': client };
  return call(server.port, '/api/tags/leaf-segment-test/pause', { method: 'POST', headers });
}

async function codeOfFailures(client: string, times: number): Promise<string> {
  let code = '';
  for (let n = 0; n < times; n++) code = problemCode(await pause(client, 'no-such-token-0123456789'));
  return code;
}

const audit = (): string => log.all.filter((line) => line.includes('pause')).join('\n');

it('a client behind a trusted proxy has its own address in the audit and its own limit of failures', async () => {
  await start({ LEAF_TRUSTED_PROXIES: '10.0.0.0/8,127.0.0.1' });
  expect((await pause('203.0.113.7')).status).toBe(200);
  expect(audit()).toContain('203.0.113.7');
  // What a client sends itself comes before what the proxies add.
  expect((await pause('198.51.100.1, 203.0.113.8, 10.1.2.3')).status).toBe(200);
  expect(audit()).toContain('203.0.113.8');
  expect(audit()).not.toContain('198.51.100.1');
  // Some proxies write the port as well.
  expect((await pause('198.51.100.1:1, 203.0.113.11:4711, 10.1.2.3:4712')).status).toBe(200);
  expect(audit()).toContain('"from":"203.0.113.11"');
  expect(await codeOfFailures('203.0.113.9', MAX_FAILURES + 1)).toBe('LEAF_TOO_MANY_FAILURES');
  expect(await codeOfFailures('203.0.113.10', 1)).toBe('LEAF_UNAUTHORIZED');
});

it.each([undefined, '10.0.0.0/8'])('with the trusted proxies %p another client is not believed', async (proxies) => {
  await start(proxies === undefined ? {} : { LEAF_TRUSTED_PROXIES: proxies });
  expect((await pause('203.0.113.7')).status).toBe(200);
  expect(audit()).toContain('127.0.0.1');
  expect(audit()).not.toContain('203.0.113.7');
  expect(await codeOfFailures('203.0.113.9', MAX_FAILURES)).toBe('LEAF_UNAUTHORIZED');
  expect(await codeOfFailures('203.0.113.10', 1)).toBe('LEAF_TOO_MANY_FAILURES');
});
