import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConsoleLogger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type BitLayoutOptions, IdService } from '@leaf-ids/core';
import { LeafClientModule } from '@leaf-ids/client/nest';
import { LeafClient, type LeafClientOptions } from '@leaf-ids/client';
import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { startTestServer, type TestServer } from '../../support/servers/server';
import { until } from '../../support/until';

const TOKEN = 'worker-token-0123456789';
const WINDOW = { mode: 'window', token: TOKEN, holder: 'billing-7d9f' } as const;
/** Not that of the client: it comes from the servers. */
const LAYOUT: BitLayoutOptions = { timeBits: 41, workerBits: 9, sequenceBits: 13, epoch: 1_600_000_000_000 };
const BITS = `${LAYOUT.timeBits},${LAYOUT.workerBits},${LAYOUT.sequenceBits}`;

describe('LeafClient with worker windows', () => {
  let server: TestServer;
  let proxy: TcpProxy;
  let directory: string;
  const clients: LeafClient[] = [];

  beforeAll(async () => {
    directory = await makeDataDirectory();
    server = await startTestServer({
      ...{ LEAF_DATA_DIR: directory, LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite` },
      ...{ LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_WORKER_TOKENS: TOKEN, LEAF_SNOWFLAKE_REGISTRY: 'database' },
      ...{ LEAF_SNOWFLAKE_BITS: BITS, LEAF_SNOWFLAKE_EPOCH: String(LAYOUT.epoch) },
    });
    proxy = await TcpProxy.start(server.port);
  });
  afterEach(async () => {
    proxy.heal();
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
    await removeDataDirectory(directory);
  });

  function open(options: Partial<LeafClientOptions> = {}): LeafClient {
    const servers = [`http://127.0.0.1:${proxy.port}`];
    const client = new LeafClient({ servers, snowflake: WINDOW, preload: { snowflake: true }, ...options });
    clients.push(client);
    return client;
  }

  interface Listed {
    readonly workerId: number;
    readonly holder: string;
    readonly until: number;
  }
  async function listed(): Promise<readonly Listed[]> {
    const { body } = await admin(server.port, 'GET', '/api/workers');
    return (JSON.parse(body) as { workers: Listed[] }).workers;
  }

  it('takes a worker ID from another server if one has none left: servers may have different ranges', async () => {
    const used = createServer((_request, response) => {
      response.writeHead(409, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'LEAF_WORKERS_USED_UP', detail: 'None is left.' }));
    });
    await once(used.listen(0, '127.0.0.1'), 'listening');
    const { port } = used.address() as AddressInfo;
    try {
      // The server without worker IDs is asked first.
      const servers = [
        { url: `http://127.0.0.1:${port}`, zone: 'near' },
        { url: `http://127.0.0.1:${proxy.port}`, zone: 'far' },
      ];
      const client = open({ servers, zone: 'near' });
      await client.ready();
      expect(client.snapshot().servers.map(({ requests }) => requests)).toEqual([1, 1]);
      expect(client.snowflake()).toBeGreaterThan(0n);
      const alone = open({ servers: [`http://127.0.0.1:${port}`] });
      await expect(alone.snowflakes(1)).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
    } finally {
      used.close();
    }
  });

  it('issues IDs itself, with the layout of the servers', async () => {
    const client = open();
    await client.ready();
    const workerId = client.snapshot().window?.workerId;
    expect(await listed()).toEqual([expect.objectContaining({ workerId, holder: 'billing-7d9f' })]);
    const ids = [
      client.snowflake(),
      BigInt(client.snowflakeString()),
      BigInt(client.trySnowflakeString() ?? 0),
      ...(await client.snowflakes(10_000)),
      ...(await client.snowflakeStrings(10_000)).map(BigInt),
    ];
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)));
    const { timestamp, workerId: decoded } = client.decode(ids[0] as bigint);
    expect(decoded).toBe(workerId);
    expect(Math.abs(timestamp - Date.now())).toBeLessThan(60_000);
    const { servers, snowflake, window } = client.snapshot();
    expect(servers[0]).toMatchObject({ requests: 1, failures: 0 });
    expect(snowflake).toMatchObject({ buffered: 0, loads: 1, loading: false });
    expect(window).toMatchObject({ issued: 20_003, lastTimestamp: client.decode(ids.at(-1) as bigint).timestamp });
  });

  it('gives each client a worker ID of its own, and releases it', async () => {
    const pair = [open(), open()];
    await Promise.all(pair.map((client) => client.ready()));
    const workers = pair.map((client) => client.snapshot().window?.workerId);
    expect(new Set(workers).size).toBe(2);
    pair.map((client) => client.snowflake());
    expect(await Promise.all(pair.map((client) => client.close()))).toEqual(
      pair.map(() => ({ tags: new Map(), snowflakes: 0 })),
    );
    // Released: a record that ends with the newest ID, and not with the window.
    expect((await listed()).filter(({ workerId }) => workers.includes(workerId))).toStrictEqual([]);
  });

  it('asks another server when one fails, and keeps issuing while all are down', async () => {
    const client = open({ servers: ['http://127.0.0.1:1', `http://127.0.0.1:${proxy.port}`] });
    await client.ready();
    proxy.refuse();
    expect(await client.snowflakes(10_000)).toHaveLength(10_000);
    proxy.heal();
  });

  it('has one worker ID though the first answer is lost', async () => {
    proxy.blackhole('answers');
    const client = open({ requestTimeoutMs: 300 });
    const ready = client.ready();
    // The request arrives, and its answer does not.
    await until('the window', async () => (await listed()).length === 1);
    await sleep(400);
    proxy.cut();
    proxy.heal();
    await ready;
    expect((await listed()).map(({ workerId }) => workerId)).toEqual([client.snapshot().window?.workerId]);
  });

  it('needs a token of its own, and says so', async () => {
    const client = open({ snowflake: { mode: 'window' }, token: 'client-token-0123456789' });
    await expect(client.ready()).rejects.toMatchObject({ code: 'LEAF_UNAUTHORIZED' });
    expect(() => client.snowflake()).toThrow(expect.objectContaining({ code: 'LEAF_UNAUTHORIZED' }));
  });

  it('serves a Nest application', async () => {
    const servers = [`http://127.0.0.1:${proxy.port}`];
    const options = { servers, snowflake: WINDOW, preload: { snowflake: true } };
    const module = await Test.createTestingModule({ imports: [LeafClientModule.forRoot(options)] })
      .setLogger(new ConsoleLogger({ logLevels: ['error'] }))
      .compile();
    await module.init();
    const { workerId } = module.get(LeafClient).decode(module.get(IdService).snowflake());
    expect((await listed()).map((window) => window.workerId)).toContain(workerId);
    await module.close();
    expect((await listed()).map((window) => window.workerId)).not.toContain(workerId);
  });
});
