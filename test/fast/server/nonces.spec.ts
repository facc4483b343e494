import { Agent } from 'node:http';
import { type Answer, call } from '../../support/http/http';
import { problemCode } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';

describe.each([{ fastPath: true }, { fastPath: false }])('nonces, $fastPath for the fast route', (options) => {
  let server: TestServer;
  let agent: Agent;

  beforeAll(async () => {
    server = await startTestServer({}, options);
    agent = new Agent({ keepAlive: true });
  });
  afterAll(async () => {
    agent.destroy();
    await server.stop();
  });

  it.each(['segment/batch/leaf-segment-test', 'segment/range/leaf-segment-test', 'snowflake/batch/order'])(
    'are repeated by %s, and refused when they are none',
    async (route) => {
      const ask = (query: string): Promise<Answer> => call(server.port, `/api/${route}?${query}`, { agent });
      for (const size of [2, 2000]) {
        for (const nonce of ['aB3_-', 'n'.repeat(64)]) {
          const { status, headers } = await ask(`size=${size}&nonce=${nonce}`);
          expect([status, headers['leaf-nonce']]).toEqual([200, nonce]);
        }
        expect((await ask(`size=${size}`)).headers['leaf-nonce']).toBe('none');
      }
      expect((await ask('nonce=first')).headers['leaf-nonce']).toBe('first');
      for (const wrong of ['', 'n'.repeat(65), 'a%0d%0ab', 'a+b', 'a&nonce=b']) {
        expect(problemCode(await ask(`size=2&nonce=${wrong}`))).toBe('LEAF_REQUEST_INVALID');
      }
    },
  );
});
