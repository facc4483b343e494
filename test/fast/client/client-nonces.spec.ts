import { messageOf } from '@leaf-ids/core/internal';
import { LeafClient, type LeafClientOptions } from '@leaf-ids/client';
import { FakeLeaf } from '../../support/fakes/fake-leaf';
import { call } from '../../support/http/http';
import { SharedAnswerProxy, type SharedAnswerOptions } from '../../support/http/shared-answer-proxy';
import { until } from '../../support/until';

const withoutQuery = (url: string): string => url.slice(0, url.indexOf('?'));

describe('an answer that several clients are given', () => {
  const stops: (() => Promise<unknown>)[] = [];
  let leaf: FakeLeaf;

  beforeEach(async () => {
    leaf = await FakeLeaf.start(1n);
    stops.push(() => leaf.stop());
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  async function shareAnswers(options: SharedAnswerOptions): Promise<SharedAnswerProxy> {
    const proxy = await SharedAnswerProxy.start(leaf.port, options);
    stops.push(() => proxy.stop());
    return proxy;
  }

  function open(servers: LeafClientOptions['servers'], options: Partial<LeafClientOptions> = {}): LeafClient {
    const client = new LeafClient({ servers, zone: 'z', requestTimeoutMs: 30_000, timeoutMs: 30_000, ...options });
    stops.push(() => client.close());
    return client;
  }

  it('does not come from a proxy that collapses requests of one URL', async () => {
    const proxy = await shareAnswers({ keyOf: (url) => url, keeps: false });
    const { answer } = leaf;
    leaf.answer = async (...request) => {
      await until('both requests', () => proxy.passed + proxy.shared === 2);
      await answer(...request);
    };
    const clients = [open([proxy.url]), open([proxy.url])];
    expect((await Promise.all(clients.map((client) => client.nextId('order')))).sort()).toEqual([1n, 101n]);
    expect(proxy.shared).toBe(0);
  });

  it('is refused, and another server asked, where the query does not count', async () => {
    const other = await FakeLeaf.start(1_000_000n);
    stops.push(() => other.stop());
    const proxy = await shareAnswers({ keyOf: withoutQuery, keeps: true });
    const servers = [{ url: proxy.url, zone: 'z' }, other.url];
    const [first, second] = [open(servers), open(servers)];
    expect([await first.nextId('order'), await second.nextId('order')]).toEqual([1n, 1_000_000n]);
    const firstBatch = await first.snowflakes(1);
    expect(await second.snowflakes(1)).not.toEqual(firstBatch);
    expect(proxy.shared).toBe(2);
    expect(second.snapshot().servers[0]?.lastError).toMatch(/belongs to another request.*cache or proxy/);
  });

  it('is refused for the cause when there is no other server', async () => {
    const proxy = await shareAnswers({ keyOf: withoutQuery, keeps: true });
    expect(await open([proxy.url]).nextId('order')).toBe(1n);
    const second = open([proxy.url], { timeoutMs: 1000 });
    await until('the cause', async () => {
      const failure: unknown = await second.nextId('order').catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'LEAF_SERVERS_UNAVAILABLE' });
      // Longer than any pause of the machine.
      return /belongs to another request.*cache or proxy/.test(messageOf(failure));
    });
  });

  it('is refused when it was made for somebody without a nonce', async () => {
    const proxy = await shareAnswers({ keyOf: withoutQuery, keeps: true });
    await call(Number(new URL(proxy.url).port), '/api/segment/range/order?size=100');
    expect(await open([{ url: proxy.url, zone: 'z' }, leaf.url]).nextId('order')).toBe(101n);
    expect([proxy.passed, proxy.shared]).toEqual([1, 1]);
  });

  it('is not suspected of servers of the previous version, beside others or alone', async () => {
    leaf.repeatsNonces = false;
    const client = open([leaf.url], { segment: { minSize: 1, maxSize: 1 } });
    expect(await client.nextIds('order', 3)).toEqual([1n, 2n, 3n]);
    leaf.repeatsNonces = true;
    expect(await client.nextIds('order', 3)).toHaveLength(3);
    leaf.repeatsNonces = false;
    expect(await client.nextIds('order', 3)).toHaveLength(3);
    expect(client.snapshot().servers[0]?.failures).toBe(0);
  });

  it('would show, since no two requests have the same nonce', async () => {
    const clients = Array.from({ length: 5 }, () => open([leaf.url], { segment: { minSize: 1, maxSize: 1 } }));
    await Promise.all(clients.map((client) => client.nextIds('order', 5)));
    await Promise.all(clients.map((client) => client.nextIds('order', 5)));
    const nonces = leaf.requests.map(({ path }) => /[?&]nonce=([0-9a-f]{32})$/.exec(path)?.[1]);
    expect(nonces.length).toBeGreaterThanOrEqual(10);
    expect(nonces).not.toContain(undefined);
    expect(new Set(nonces).size).toBe(nonces.length);
  });
});
