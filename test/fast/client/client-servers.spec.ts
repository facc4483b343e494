import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { LeafClient, type LeafClientOptions } from '@leaf-ids/client';
import { FakeLeaf, problem, send } from '../../support/fakes/fake-leaf';
import { freePort } from '../../support/free-port';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';
import { watch } from '../../support/watch';

/** Disables prefetching: each ID is one request. */
const ONE_BY_ONE = { segment: { minSize: 1, maxSize: 1 } };

describe('the client and its servers', () => {
  const servers: FakeLeaf[] = [];
  const clients: LeafClient[] = [];
  let clock: FakeClock;

  beforeEach(() => (clock = new FakeClock()));
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  async function start(first?: bigint): Promise<FakeLeaf> {
    const server = await FakeLeaf.start(first);
    servers.push(server);
    return server;
  }

  function open(options: LeafClientOptions): LeafClient {
    const client = new LeafClient({ ...ONE_BY_ONE, ...options }, clock, systemRandom);
    clients.push(client);
    return client;
  }

  /** Advances the clock until the call has ended. */
  async function ended<T>(call: Promise<T>, stepMs = 25): Promise<T> {
    const watched = watch(call);
    await until('end of the call', async () => {
      if (!watched.settled) await clock.advance(stepMs);
      return watched.settled;
    });
    return call;
  }

  async function take(client: LeafClient, count: number): Promise<void> {
    for (let i = 0; i < count; i++) await client.nextId('order');
  }

  it('asks the own zone, the others while nobody there answers, and the own zone again', async () => {
    const [near, far] = [await start(1n), await start(1_000_000n)];
    const client = open({
      servers: [
        { url: far.url, zone: 'west' },
        { url: near.url, zone: 'east' },
      ],
      zone: 'east',
    });
    await take(client, 20);
    expect([near.requests.length, far.requests.length]).toEqual([20, 0]);
    near.answer = (response) => void response.destroy();
    await take(client, 20);
    // Two failures in a row eject the server.
    expect([near.requests.length, far.requests.length]).toEqual([22, 20]);
    near.answer = (response, sound) => send(response, 200, sound);
    await clock.advance(250);
    await take(client, 20);
    expect([near.requests.length, far.requests.length]).toEqual([42, 20]);
  });

  it('ejects a server that fails, tells, probes with back-off and admits it again', async () => {
    const [bad, good] = [await start(1n), await start(1_000_000n)];
    bad.answer = (response) => send(response, 500, 'out of order', { 'content-type': 'text/html' });
    const log: string[] = [];
    const client = open({
      servers: [{ url: bad.url, zone: 'z' }, good.url],
      zone: 'z',
      ejection: { failures: 3, firstMs: 1000, maxMs: 3000 },
      events: {
        onServerEjected: (url, error) => log.push(`${url} ${String(error)}`),
        onServerReadmitted: (url) => log.push(`${url} is back`),
      },
    });
    await take(client, 10);
    expect(bad.requests).toHaveLength(3);
    expect(log).toEqual([expect.stringMatching(`${bad.url} ServerFault: status 500`)]);
    expect(client.snapshot().servers[0]).toMatchObject({
      state: 'ejected',
      failures: 3,
      failuresInRow: 3,
      lastError: expect.stringMatching(/500/),
    });
    for (let second = 0; second < 12; second++) {
      await clock.advance(1000);
      await take(client, 5);
    }
    // Probed after 1, 2, 3 and 3 s at the latest, half of each at the earliest.
    expect(bad.requests.length - 3).toBeGreaterThanOrEqual(4);
    expect(bad.requests.length - 3).toBeLessThanOrEqual(8);
    bad.answer = (response, sound) => send(response, 200, sound);
    await clock.advance(3000);
    const before = good.requests.length;
    await take(client, 5);
    expect(good.requests).toHaveLength(before);
    expect(log.at(-1)).toBe(`${bad.url} is back`);
  });

  it('respects Retry-After: for one tag when Leaf says it, for all when something in between does', async () => {
    const [first, second] = [await start(1n), await start(1_000_000n)];
    first.answer = (response, sound, { name }) => {
      if (name === 'order') problem(response, 503, 'LEAF_STORE_UNAVAILABLE', { 'retry-after': '20' });
      else if (name === 'proxy') send(response, 503, 'busy', { 'content-type': 'text/plain', 'retry-after': '40' });
      else send(response, 200, sound);
    };
    const client = open({ servers: [{ url: first.url, zone: 'z' }, second.url], zone: 'z' });
    await take(client, 5);
    expect(first.requests).toHaveLength(1);
    await client.nextId('other');
    expect(first.requests).toHaveLength(2);
    await clock.advance(19_999);
    await take(client, 5);
    expect(first.requests).toHaveLength(2);
    await clock.advance(1);
    await take(client, 5);
    expect(first.requests).toHaveLength(3);

    await client.nextId('proxy');
    await client.nextId('other');
    expect(first.requests).toHaveLength(4);
    await clock.advance(39_999);
    await client.nextId('other');
    expect(first.requests).toHaveLength(4);
    await clock.advance(1);
    await client.nextId('other');
    expect(first.requests).toHaveLength(5);
  });

  it('a pause of one server is none of the others; of all servers it is final', async () => {
    const [paused, serving] = [await start(1n), await start(1_000_000n)];
    const pause = { 'retry-after': '5' };
    paused.answer = (response) => problem(response, 503, 'LEAF_TAG_PAUSED', pause);
    const client = open({ servers: [{ url: paused.url, zone: 'z' }, serving.url], zone: 'z' });
    await take(client, 3);
    serving.answer = paused.answer;
    await expect(client.nextId('order')).rejects.toMatchObject({ code: 'LEAF_TAG_PAUSED', retryAfterMs: 5000 });
    expect(client.snapshot().servers.map(({ failures }) => failures)).toEqual([0, 0]);
  });

  it('a pause of one server does not end a call that another one may serve once it is back', async () => {
    const [paused, away] = [await start(1n), await start(1_000_000n)];
    paused.answer = (response) => problem(response, 503, 'LEAF_TAG_PAUSED', { 'retry-after': '60' });
    away.answer = (response) => void response.destroy();
    const client = open({ servers: [paused.url, away.url], timeoutMs: 30_000 });
    const call = client.nextId('order');
    await until('a second try', async () => {
      await clock.advance(25);
      return away.requests.length > 1;
    });
    away.answer = (response, sound) => send(response, 200, sound);
    expect(await ended(call)).toBeGreaterThanOrEqual(1_000_000n);
    expect(paused.requests).toHaveLength(1);
  });

  it.each([
    ['LEAF_TAG_NOT_FOUND', 404],
    ['LEAF_TAG_INVALID', 400],
  ])('asks nobody else after %s', async (code, status) => {
    const all = [await start(), await start()];
    for (const server of all) server.answer = (response) => problem(response, status, code);
    const client = open({ servers: all.map(({ url }) => url) });
    await expect(client.nextId('order')).rejects.toMatchObject({ code, message: `It is ${code}.` });
    expect(all.flatMap(({ requests }) => requests)).toHaveLength(1);
  });

  it('bounds a call that no server answers, and a later one finds what came too late', async () => {
    const slow = await start(7n);
    let answer = (): void => undefined;
    slow.answer = (response, sound) => void (answer = (): void => send(response, 200, sound));
    const client = open({ servers: [slow.url], timeoutMs: 500, requestTimeoutMs: 60_000 });
    const call = watch(client.nextId('order'));
    await until('request', () => slow.requests.length === 1);
    await clock.advance(499);
    expect(call.settled).toBe(false);
    await clock.advance(1);
    expect(call.code).toBe('LEAF_SERVERS_UNAVAILABLE');
    answer();
    await until('late answer', () => client.snapshot().tags[0]?.buffered === 1);
    expect(client.tryNext('order')).toBe(7n);
  });

  it('gives up a request without an answer, and asks another server', async () => {
    const [silent, good] = [await start(1n), await start(500n)];
    silent.answer = () => undefined;
    const client = open({ servers: [{ url: silent.url, zone: 'z' }, good.url], zone: 'z', requestTimeoutMs: 300 });
    const call = watch(client.nextId('order'));
    await until('request', () => silent.requests.length === 1);
    await clock.advance(299);
    expect(silent.open).toBe(1);
    await clock.advance(1);
    await until('answer', () => call.settled);
    expect(call.value).toBe(500n);
    await until('end of the connection', () => silent.open === 0);
    expect(client.snapshot().servers[0]?.lastError).toMatch(/timed out after 300 ms/);
  });

  it('goes on from what it holds while all servers are away, then refuses, then recovers by itself', async () => {
    const server = await start();
    const proxy = await TcpProxy.start(server.port);
    try {
      const urls = [`http://127.0.0.1:${proxy.port}`, `http://127.0.0.1:${await freePort()}`];
      const client = open({
        servers: urls,
        segment: { minSize: 50 },
        timeoutMs: 30_000,
        ejection: { maxMs: 600_000 },
        preload: { tags: ['order'], snowflake: true },
      });
      await client.ready();
      proxy.refuse();
      const ids = await Promise.all(Array.from({ length: 50 }, () => client.nextId('order')));
      expect(new Set(ids).size).toBe(50);
      for (let i = 0; i < 100; i++) expect(client.trySnowflakeString()).toBeDefined();
      await expect(ended(client.nextId('order'), 1000)).rejects.toMatchObject({
        code: 'LEAF_SERVERS_UNAVAILABLE',
        retryable: true,
        message: expect.stringContaining(urls[0]!),
      });
      expect(() => client.snowflake()).toThrow(expect.objectContaining({ code: 'LEAF_NOT_READY' }));
      await clock.advance(300_000);
      proxy.heal();
      // They are ejected for minutes by now, but without any other server the client tries them sooner.
      const before = clock.monotonic();
      await ended(client.nextId('order'));
      await ended(client.snowflakes(1));
      expect(clock.monotonic() - before).toBeLessThan(30_000);
    } finally {
      await proxy.stop();
    }
  });

  it('sends so many requests at once, and no more', async () => {
    const server = await start();
    const answers: (() => void)[] = [];
    server.answer = (response, sound) => void answers.push(() => send(response, 200, sound));
    const client = open({ servers: [server.url], maxRequests: 3 });
    const calls = Array.from({ length: 10 }, (_, index) => client.nextId(`tag-${index}`));
    await until('requests', () => answers.length === 3);
    expect(client.snapshot()).toMatchObject({ waiting: 10, servers: [{ outstanding: 3 }] });
    const done = watch(Promise.all(calls));
    await until('end', () => {
      answers.shift()?.();
      return done.settled;
    });
    expect(new Set(done.value)).toHaveProperty('size', 10);
    expect(server.peak).toBe(3);
    expect(server.requests).toHaveLength(10);
  });

  it('spreads tags over the servers', async () => {
    const all = [await start(1n), await start(1_000_000n), await start(2_000_000n)];
    const client = open({ servers: all.map(({ url }) => url) });
    await Promise.all(Array.from({ length: 60 }, (_, index) => client.nextId(`tag-${index}`)));
    for (const { requests } of all) expect(requests.length).toBeGreaterThan(5);
    const tag = all[0]!.requests[0]!.name;
    for (let i = 0; i < 20; i++) await client.nextId(tag);
    expect(all[0]!.requests.filter(({ name }) => name === tag)).toHaveLength(21);
  });

  it('opens no connection before the first call, and asks behind a path', async () => {
    const server = await start();
    const client = open({ servers: [`http://127.0.0.1:${server.port}/behind/proxy/`] });
    expect(server.requests).toHaveLength(0);
    server.answer = (response) => send(response, 200, { tag: 'a:b.c', ranges: [{ from: '4', to: '4' }] });
    expect(await client.nextId('a:b.c')).toBe(4n);
    expect(server.requests[0]?.path).toMatch(/^\/behind\/proxy\/api\/segment\/range\/a:b\.c\?size=1&nonce=\w+$/);
  });

  it('ends its requests when it is closed, and refuses', async () => {
    const server = await start();
    const client = open({ servers: [server.url], segment: {} });
    await client.nextId('order');
    await client.snowflakes(1);
    server.answer = () => undefined;
    const waiting = watch(client.nextId('other'));
    await until('request', () => server.open === 1);
    expect(await client.close()).toEqual({ tags: new Map([['order', 99]]), snowflakes: 99 });
    expect(await client.close()).toEqual({ tags: new Map([['order', 99]]), snowflakes: 99 });
    await until('refusal', () => waiting.settled);
    expect(waiting.code).toBe('LEAF_NOT_READY');
    await until('end of the request', () => server.open === 0);
    for (const call of [client.nextId('order'), client.nextIds('new', 2), client.snowflakes(1), client.ready()]) {
      await expect(call).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    }
    expect(() => client.snowflake()).toThrow(expect.objectContaining({ code: 'LEAF_NOT_READY' }));
    expect([client.tryNext('order'), client.trySnowflakeString()]).toEqual([undefined, undefined]);
  });
});
