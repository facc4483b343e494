import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { FakeLeaf } from '../../../../test/support/fakes/fake-leaf';
import { until } from '../../../../test/support/until';
import { watch } from '../../../../test/support/watch';
import { LeafClient } from '../leaf-client';
import { ServerFault } from '../servers/server-health';
import { type ClientToken, HttpConnection } from './http-connection';

describe('the token function of a connection', () => {
  let server: FakeLeaf;
  let clock: FakeClock;
  let connection: HttpConnection | undefined;

  beforeEach(async () => {
    clock = new FakeClock();
    server = await FakeLeaf.start(1n);
  });
  afterEach(async () => {
    connection?.close();
    await server.stop();
  });

  function open(token: ClientToken): HttpConnection {
    return (connection = new HttpConnection(new URL(server.url), { timeoutMs: 500, token }, clock));
  }

  it('has the time limit of the request', async () => {
    const request = watch(open(() => new Promise(() => undefined)).send({ path: '/api' }));
    await clock.advance(499);
    expect(request.settled).toBe(false);
    await clock.advance(1);
    expect(request.error).toEqual(new ServerFault('no request: the token function did not answer within 500 ms'));
    expect(server.requests).toStrictEqual([]);
    expect(clock.sleeping).toBe(0);
  });

  it('does not end prefetching when it never answers', async () => {
    let token: Promise<string> = new Promise(() => undefined);
    const client = new LeafClient({ servers: [server.url], token: () => token }, clock, systemRandom);
    try {
      const refused = watch(client.nextId('order'));
      await until('a refusal', async () => (await clock.advance(25), refused.settled));
      expect(refused.code).toBe('LEAF_SERVERS_UNAVAILABLE');
      token = Promise.resolve('secret');
      const late = watch(client.nextId('order'));
      await until('an ID', async () => (await clock.advance(25), late.settled));
      expect(late.value).toBe(1n);
    } finally {
      await client.close();
    }
  });

  it.each<[string, () => Promise<string>]>([
    [
      'throws',
      () => {
        throw new Error('GET https://vault/?key=hidden failed');
      },
    ],
    ['rejects', () => Promise.reject(new Error('GET https://vault/?key=hidden failed'))],
  ])('is named when it %s, with its error only as the cause', async (_, token) => {
    await expect(open(token).send({ path: '/api' })).rejects.toMatchObject({
      code: 'LEAF_UNAUTHORIZED',
      message: 'The token function failed. See the cause of this error.',
      cause: new Error('GET https://vault/?key=hidden failed'),
    });
  });

  it('is refused without being shown, when it contains characters that a header cannot', async () => {
    for (const token of ['secret\nvalue', () => 'secret\u{1F600}']) {
      const refused: unknown = await open(token)
        .send({ path: '/api' })
        .catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'LEAF_UNAUTHORIZED' });
      expect(String(refused)).not.toContain('secret');
    }
  });
});
