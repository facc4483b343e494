import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { LeafClient } from '@leaf-ids/client';
import { FakeLeaf, problem, send } from '../../support/fakes/fake-leaf';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { until } from '../../support/until';
import { watch } from '../../support/watch';

const SHOP = 'shop-token-0123456789';

/** Passes requests on to a server, and drops the connection instead of the response. */
async function startLossy(port: number): Promise<Server> {
  const pass = async ({ method, url, headers }: IncomingMessage, body: string): Promise<void> => {
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const passed = { authorization, 'content-type': type };
    await fetch(`http://127.0.0.1:${port}${url}`, { method: method!, body, headers: passed });
  };
  const lossy = createServer((request: IncomingMessage, response: ServerResponse) => {
    void text(request)
      .then((body) => pass(request, body))
      .finally(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(lossy, 'listening');
  return lossy;
}

describe('numbers of a client', () => {
  let server: TestServer;
  let url: string;
  let client: LeafClient;

  beforeAll(async () => {
    server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_CLIENT_TOKENS: `shop:${SHOP}` });
    url = `http://127.0.0.1:${server.port}`;
    const invoice = { tag: 'invoice', order: 'gapless', reset: 'yearly', pattern: '{YYYY}-{seq:3}' };
    for (const tag of [invoice, { tag: 'receipt', order: 'gapless' }]) {
      expect((await admin(server.port, 'POST', '/api/tags', tag)).status).toBe(201);
    }
    client = new LeafClient({ servers: [url], token: SHOP });
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
  });

  it('are issued in the order of the keys, found and settled', async () => {
    const { numbers } = client;
    const at = new Date('2026-06-01T12:00:00Z');
    const issued = await numbers.issue('invoice', ['order 4711/1', 'b'], at);
    expect(issued).toMatchObject([
      { key: 'order 4711/1', period: '2026', number: 1n, text: '2026-001', state: 'issued', issuedBy: 'shop' },
      { key: 'b', number: 2n },
    ]);
    expect(await numbers.issue('invoice', ['b'], at)).toEqual([issued[1]]);
    expect(await numbers.confirm('invoice', 'order 4711/1')).toMatchObject({ number: 1n, state: 'confirmed' });
    expect(await numbers.void('invoice', 'b', 'torn')).toMatchObject({ number: 2n, state: 'void', reason: 'torn' });
    expect(await numbers.find('invoice', 'b')).toMatchObject({ number: 2n, settledBy: 'shop' });
  });

  it('pass refusals on, and refuse invalid arguments without a request', async () => {
    const { numbers } = client;
    const refused: [() => Promise<unknown>, string][] = [
      [() => numbers.find('receipt', 'z'), 'LEAF_NUMBER_NOT_FOUND'],
      [() => numbers.issue('nothing', ['a']), 'LEAF_TAG_NOT_FOUND'],
      [() => numbers.issue('leaf-segment-test', ['a']), 'LEAF_TAG_NOT_GAPLESS'],
      [() => numbers.void('receipt', 'a', ' '), 'LEAF_BODY_INVALID'],
      [() => numbers.issue('receipt', []), 'LEAF_SIZE_INVALID'],
      [() => numbers.issue('receipt', ['a'], new Date(NaN)), 'LEAF_PERIOD_INVALID'],
      [() => numbers.confirm('receipt', '..'), 'LEAF_REQUEST_INVALID'],
      [() => numbers.find('a/b', 'a'), 'LEAF_TAG_INVALID'],
    ];
    for (const [call, code] of refused) await expect(call()).rejects.toMatchObject({ code });
  });

  it('are the same after a lost response, from another server', async () => {
    const lossy = await startLossy(server.port);
    const lossyUrl = `http://127.0.0.1:${(lossy.address() as AddressInfo).port}`;
    const servers = [
      { url: lossyUrl, zone: 'near' },
      { url, zone: 'far' },
    ];
    const both = new LeafClient({ servers, zone: 'near', token: SHOP });
    try {
      expect(await both.numbers.issue('receipt', ['a', 'b'])).toMatchObject([{ number: 1n }, { number: 2n }]);
      expect(both.snapshot().servers).toMatchObject([{ failures: 1 }, { failures: 0 }]);
      expect(await both.numbers.issue('receipt', ['c'])).toMatchObject([{ number: 3n }]);
    } finally {
      await both.close();
      lossy.close();
    }
  });
});

describe('numbers of a client, from servers that answer wrongly', () => {
  let leaf: FakeLeaf;
  let client: LeafClient;
  let clock: FakeClock;

  beforeEach(async () => {
    leaf = await FakeLeaf.start();
    clock = new FakeClock();
    client = new LeafClient({ servers: [leaf.url] }, clock, systemRandom);
  });
  afterEach(async () => {
    await client.close();
    await leaf.stop();
  });

  it.each<[string, object]>([
    ['of another key', { tag: 'receipt', key: 'b', number: '1', state: 'issued' }],
    ['of another tag', { tag: 'invoice', key: 'a', number: '1', state: 'issued' }],
    ['without a number', { tag: 'receipt', key: 'a', number: 1, state: 'issued' }],
  ])('refuse a response %s', async (_, number) => {
    leaf.answer = (response) => send(response, 200, number);
    await expect(client.numbers.find('receipt', 'a')).rejects.toThrow('invalid response');
    leaf.answer = (response) => send(response, 201, { numbers: [number] });
    await expect(client.numbers.issue('receipt', ['a'])).rejects.toMatchObject({ code: 'LEAF_SERVERS_UNAVAILABLE' });
  });

  it('reject with the refusal of all servers', async () => {
    leaf.answer = (response) => problem(response, 503, 'LEAF_NUMBERS_HISTORY_LOST');
    await expect(client.numbers.issue('receipt', ['a'])).rejects.toMatchObject({ code: 'LEAF_NUMBERS_HISTORY_LOST' });
    await client.close();
    await expect(client.numbers.find('receipt', 'a')).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
  });

  it('say after the time limit that the call can be repeated', async () => {
    leaf.answer = () => undefined;
    const patient = new LeafClient(
      { servers: [leaf.url], timeoutMs: 500, requestTimeoutMs: 1000 },
      clock,
      systemRandom,
    );
    const call = watch(patient.numbers.issue('receipt', ['a']));
    await until('the end', async () => (await clock.advance(100), call.settled));
    await patient.close();
    expect(call.error).toMatchObject({
      code: 'LEAF_SERVERS_UNAVAILABLE',
      message: expect.stringContaining('Repeat the call with the same key') as string,
    });
  });
});
