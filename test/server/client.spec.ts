import 'reflect-metadata';
import { type INestApplicationContext, Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdService } from '@leaf-ids/core';
import { LeafClient, type LeafClientOptions } from '@leaf-ids/client';
import { LeafClientModule } from '@leaf-ids/client/nest';
import { ADMIN_TOKEN } from '../support/http/admin';
import { freePort } from '../support/free-port';
import { call } from '../support/http/http';
import { startTestServer, type TestServer } from '../support/servers/server';
import { SharedAnswerProxy } from '../support/http/shared-answer-proxy';
import { until } from '../support/until';
import { watch } from '../support/watch';

const TAG = 'leaf-segment-test';

@Injectable()
class Orders {
  constructor(readonly ids: IdService) {}
}

/** A module that does not import the client's. */
@Module({ providers: [Orders], exports: [Orders] })
class OrdersModule {}

@Module({})
class Root {}

class Settings {
  constructor(readonly url: string) {}
}

describe('LeafClientModule', () => {
  let server: TestServer;
  let url: string;
  const apps: INestApplicationContext[] = [];

  beforeAll(async () => {
    server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
    url = `http://127.0.0.1:${server.port}`;
  });
  afterAll(() => server.stop());
  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    jest.restoreAllMocks();
  });

  async function start(
    ...imports: NonNullable<Parameters<typeof Module>[0]['imports']>
  ): Promise<INestApplicationContext> {
    const app = await NestFactory.createApplicationContext(
      { module: Root, imports },
      { logger: false, abortOnError: false },
    );
    apps.push(app);
    return app;
  }

  it('forRoot provides IdService, with what was to be preloaded at hand', async () => {
    const app = await start(LeafClientModule.forRoot({ servers: [url], preload: { tags: [TAG], snowflake: true } }));
    const ids = app.get(IdService);
    expect(ids).toBe(app.get(LeafClient));
    expect(ids.tryNext(TAG)).toBeDefined();
    const { timestamp } = ids.decode(ids.snowflake());
    expect(Math.abs(timestamp - Date.now())).toBeLessThan(60_000);
  });

  it('forRootAsync takes its options from a provider', async () => {
    const client = LeafClientModule.forRootAsync({
      provideInjectionTokensFrom: [{ provide: Settings, useValue: new Settings(url) }],
      inject: [Settings],
      useFactory: (settings: Settings): LeafClientOptions => ({ servers: [settings.url] }),
    });
    const app = await start(client);
    expect(await app.get(IdService).nextId(TAG)).toBeGreaterThan(0n);
  });

  it('is global only when it is asked to be', async () => {
    const app = await start(OrdersModule, LeafClientModule.forRoot({ servers: [url], isGlobal: true }));
    expect(await app.get(Orders).ids.nextId(TAG)).toBeGreaterThan(0n);
    const alone = start(OrdersModule, LeafClientModule.forRoot({ servers: [url] }));
    await expect(alone).rejects.toThrow(/IdService/);
  });

  it('starts without a server, says so, and serves when there is one', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const app = await start(
      LeafClientModule.forRoot({
        servers: [`http://127.0.0.1:${await freePort()}`],
        timeoutMs: 1000,
        preload: { tags: [TAG] },
      }),
    );
    expect(warn.mock.calls.flat().join('\n')).toMatch(/The preload is incomplete.*No Leaf server/);
    await expect(app.get(IdService).nextId(TAG)).rejects.toMatchObject({ code: 'LEAF_SERVERS_UNAVAILABLE' });
  });

  it('refuses wrong options at the start', async () => {
    const app = start(LeafClientModule.forRoot({ servers: ['127.0.0.1:8080'] }));
    await expect(app).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
  });

  it('closes with the application, and says what it drops', async () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
    // A request that is sent again would fetch more.
    const app = await start(LeafClientModule.forRoot({ servers: [url], requestTimeoutMs: 30_000, timeoutMs: 30_000 }));
    const ids = app.get(IdService);
    await ids.nextId(TAG);
    await ids.snowflakes(3);
    await app.close();
    expect(log.mock.calls.flat()).toContain(`Closed; unused prefetched IDs: 99 of ${TAG}, 97 snowflake IDs.`);
    await expect(ids.nextId(TAG)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
  });

  it('two of them in one process do not know of each other', async () => {
    const [one, other] = await Promise.all([
      start(LeafClientModule.forRoot({ servers: [url] })),
      start(LeafClientModule.forRoot({ servers: [url] })),
    ]);
    const first = await one.get(IdService).nextIds(TAG, 500);
    await one.close();
    const second = await other.get(IdService).nextIds(TAG, 500);
    expect(new Set([...first, ...second]).size).toBe(1000);
  });

  it('takes no answer that a cache has given to another client before', async () => {
    const cache = await SharedAnswerProxy.start(server.port, { keyOf: (path) => path.split('?')[0]!, keeps: true });
    const options = {
      servers: [{ url: cache.url, zone: 'a' }, url],
      zone: 'a',
      segment: { minSize: 100, maxSize: 100 },
    };
    const clients = [new LeafClient(options), new LeafClient(options)];
    try {
      const ids = await Promise.all(clients.flatMap((client) => [client.nextIds(TAG, 100), client.snowflakes(100)]));
      expect(new Set(ids.flat()).size).toBe(400);
      expect(cache.shared).toBeGreaterThanOrEqual(2);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
      await cache.stop();
    }
  });

  it('what the server refuses arrives with its code', async () => {
    const ids = (await start(LeafClientModule.forRoot({ servers: [url] }))).get(IdService);
    const admin = { method: 'POST', headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };
    await expect(ids.nextId('unknown')).rejects.toMatchObject({
      code: 'LEAF_TAG_NOT_FOUND',
      status: 404,
      message: expect.stringContaining('"unknown"'),
    });
    expect((await call(server.port, `/api/tags/${TAG}/pause`, admin)).status).toBe(200);
    try {
      await expect(ids.nextId(TAG)).rejects.toMatchObject({ code: 'LEAF_TAG_PAUSED', retryAfterMs: 5000 });
    } finally {
      await call(server.port, `/api/tags/${TAG}/resume`, admin);
    }
  });

  describe('near the last ID of a tag', () => {
    const createTag = async (tag: object): Promise<IdService> => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const made = await call(server.port, '/api/tags', { method: 'POST', headers, body: JSON.stringify(tag) });
      expect(made.status).toBe(201);
      return (await start(LeafClientModule.forRoot({ servers: [url] }))).get(IdService);
    };

    it('serves the calls that a strict tag has enough IDs for, although others that wait with them want more', async () => {
      const ids = await createTag({ tag: 'short', order: 'strict', max: '10' });
      const first = await ids.nextId('short');
      const [many, one] = [watch(ids.nextIds('short', 50)), watch(ids.nextId('short'))];
      await until('both', () => one.settled && many.settled);
      expect([one.value, many.code]).toEqual([first + 1n, 'LEAF_TAG_EXHAUSTED']);
    });

    it('issues all of them, although fewer are left than it fetches ahead', async () => {
      const ids = await createTag({ tag: 'few', max: '90' });
      const issued = [await ids.nextId('few'), ...(await ids.nextIds('few', 80))];
      while (issued.length < 90) issued.push(await ids.nextId('few'));
      expect(issued).toEqual(Array.from({ length: 90 }, (_, index) => BigInt(index + 1)));
      await expect(ids.nextId('few')).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
    });
  });

  it('says which mode is off', async () => {
    const segments = await startTestServer({ LEAF_SNOWFLAKE_ENABLED: 'false' });
    try {
      const own = `http://127.0.0.1:${segments.port}`;
      const ids = (await start(LeafClientModule.forRoot({ servers: [own] }))).get(IdService);
      await expect(ids.snowflakes(1)).rejects.toMatchObject({ code: 'LEAF_SNOWFLAKE_DISABLED', status: 501 });
      expect(() => ids.snowflake()).toThrow(expect.objectContaining({ code: 'LEAF_SNOWFLAKE_DISABLED' }));
      expect(await ids.nextId(TAG)).toBeGreaterThan(0n);
      // One server that has the mode is enough.
      const both = (await start(LeafClientModule.forRoot({ servers: [own, url] }))).get(IdService);
      expect(await both.snowflakes(5)).toHaveLength(5);
    } finally {
      await segments.stop();
    }
  });

  it('serves on from what is at hand when the server stops', async () => {
    const short = await startTestServer();
    const client = new LeafClient({ servers: [`http://127.0.0.1:${short.port}`], timeoutMs: 2000 });
    try {
      // A machine that stands still for a moment uses up the short limit.
      await until('the first IDs', () => client.nextIds(TAG, 10).catch(() => undefined));
      await until('IDs ahead', () => client.snapshot().tags[0]!.buffered >= 90 && !client.snapshot().tags[0]!.loading);
      const { buffered } = client.snapshot().tags[0]!;
      await short.stop();
      expect(await client.nextIds(TAG, buffered)).toHaveLength(buffered);
      const refused = watch(client.nextId(TAG));
      await until('refusal', () => refused.settled);
      expect(refused.code).toBe('LEAF_SERVERS_UNAVAILABLE');
    } finally {
      await client.close();
    }
  });
});
