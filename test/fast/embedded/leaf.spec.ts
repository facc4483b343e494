import 'reflect-metadata';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { TagStore, type WorkerRecord, WorkerRegistry } from '@leaf-ids/core';
import {
  IdModule,
  IdService,
  Leaf,
  type LeafOptions,
  registerLeafMetrics,
  RegistryModule,
  SegmentModule,
  SegmentService,
  SnowflakeModule,
  SnowflakeService,
} from '@leaf-ids/id';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { freePort } from '../../support/free-port';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { until } from '../../support/until';

@Module({})
class HostModule {}

const JOBS = [
  'leaf-number-watch',
  'leaf-tag-ends',
  'leaf-tag-refresh',
  'leaf-time-report',
  'leaf-registry-maintenance',
];

let directory: string;
let workers: InMemoryWorkers;
let running: Leaf | undefined;

beforeAll(() => {
  Logger.overrideLogger(false);
});
beforeEach(async () => {
  directory = await makeDataDirectory();
  workers = new InMemoryWorkers();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await running?.stop();
  running = undefined;
  await removeDataDirectory(directory);
});

const file = (): string => `sqlite:${join(directory, 'leaf.sqlite')}`;
const snowflake = () =>
  ({
    registry: { strategy: 'custom', store: new InMemoryWorkerStore(workers), policy: 'fixed', remembers: true },
    instance: { ip: '10.0.0.7', port: 1 },
  }) as const;
const records = (): WorkerRecord[] => [...workers.records.values()].map(({ record }) => record);

async function start(options: LeafOptions): Promise<Leaf> {
  return (running = await Leaf.start(options));
}

function create(module: DynamicModule) {
  const host = { module: HostModule, imports: [module, ScheduleModule.forRoot()] };
  return NestFactory.createApplicationContext(host, { logger: false, abortOnError: false });
}

it('the start log says when the layout ends, and that its epoch is in the future', async () => {
  const lines: unknown[] = [];
  const keep = (message: unknown): number => lines.push(message);
  Logger.overrideLogger({ log: keep, warn: keep, error: keep });
  const start = async (epoch: number): Promise<void> => {
    const layout = { timeBits: 41, workerBits: 10, sequenceBits: 12, epoch };
    running = await Leaf.start({
      snowflake: {
        registry: { strategy: 'local', workers: { '*': 0 }, directory: join(directory, String(epoch)) },
        layout,
      },
    });
    await running.stop();
  };
  await start(Date.UTC(2024, 0, 1));
  expect(lines).toContainEqual(expect.stringContaining('; the layout has IDs up to 2093-09-06.'));
  await start(Date.UTC(2400, 0, 1));
  expect(lines).toContainEqual(
    expect.stringMatching(/outside the time range of the layout.*Correct the clock, or change the epoch/),
  );
  Logger.overrideLogger(false);
});

describe('Leaf', () => {
  it('starts and stops without a framework', async () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
    const leaf = await start({ database: file(), tags: ['order'], snowflake: { ...snowflake(), reportMs: 20 } });
    expect(await leaf.segments?.generator.next('order')).toBe(1n);
    // The test tag belongs to leaf-server.
    await expect(leaf.ids.nextId('leaf-segment-test')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(leaf.ids.decode(leaf.ids.snowflake()).workerId).toBe(0);
    expect(leaf.jobs.map(({ name }) => name)).toEqual(JOBS);
    await until('a report', () => records().every(({ write }) => write >= 3));
    const stop = leaf.stop();
    expect(leaf.stop()).toBe(stop);
    await stop;
    expect(log.mock.lastCall).toEqual(['Stopped: 1999 unused IDs returned, worker ID 0 released.']);
    expect(records()).toMatchObject([{ free: true }]);
    expect(leaf.jobs.filter(({ timer }) => timer !== undefined)).toStrictEqual([]);
    const again = await start({ database: file() });
    expect(await again.ids.nextId('order')).toBe(2n);
  });

  it('logs to the logger of its options alone, with the context', async () => {
    Logger.overrideLogger(['log']);
    const nest = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
    const lines: string[] = [];
    const write = (message: string, context: string): void => void lines.push(`${context}: ${message}`);
    const leaf = await start({
      database: file(),
      tags: ['order'],
      snowflake: snowflake(),
      logger: { log: write, warn: write, error: write },
    });
    await leaf.ids.nextId('order');
    await leaf.stop();
    Logger.overrideLogger(false);
    expect(lines[0]).toMatch(/^Persistence: The database .* is new/);
    expect(lines.at(-1)).toBe('Leaf: Stopped: 1999 unused IDs returned, worker ID 0 released.');
    expect(lines).toContainEqual(expect.stringMatching(/^SnowflakeService: /));
    expect(nest).not.toHaveBeenCalled();
    await expect(Leaf.start({ database: file(), logger: 'warn' as never })).rejects.toThrow(
      'logger must be a LoggerService of Nest',
    );
  });

  it('tells its status as plain data', async () => {
    const leaf = await start({ database: file(), tags: ['order'], snowflake: snowflake() });
    await leaf.ids.nextIds('order', 7);
    const status = leaf.status();
    expect(status).toMatchObject({
      segment: { health: { status: 'up' }, issued: 7 },
      database: { health: { status: 'up' }, description: expect.stringContaining('leaf.sqlite') },
      snowflake: { health: { status: 'up' }, workerId: 0 },
      registry: { health: { status: 'up' }, instance: '10.0.0.7:1' },
    });
    expect(structuredClone(status)).toEqual(status);
  });

  it('serves segment IDs without a worker ID, if it need not wait for one, and gets one later', async () => {
    const registry = { strategy: 'local', workers: { '*': 3 }, directory } as const;
    const first = await start({ snowflake: { registry } });
    const options = { registry, waitForWorker: false, reportMs: 20 };
    await expect(Leaf.start({ snowflake: options })).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    const second = await start({ database: file(), tags: ['order'], snowflake: options });
    expect(await second.ids.nextId('order')).toBe(1n);
    const held = { code: 'LEAF_WORKER_HELD', status: 503, headers: { 'retry-after': '1' } };
    expect(() => second.ids.snowflake()).toThrow(expect.objectContaining(held));
    expect(second.readiness()).toMatchObject({
      segment: { health: { status: 'up' } },
      snowflake: { health: { status: 'down', code: 'LEAF_WORKER_HELD' } },
    });
    await first.stop();
    await until('the worker ID', () => second.readiness().snowflake?.health.status === 'up');
    expect(second.ids.decode(second.ids.snowflake()).workerId).toBe(3);
  });

  it('serves segment IDs beside a pool whose worker IDs are used up, and gets one when another process leaves', async () => {
    const pool = (): NonNullable<LeafOptions['snowflake']> => ({
      registry: { strategy: 'custom', store: new InMemoryWorkerStore(workers), policy: 'pool', remembers: true },
      layout: { timeBits: 41, workerBits: 1, sequenceBits: 12, epoch: 1_700_000_000_000 },
      reportMs: 20,
    });
    const holders = [await Leaf.start({ snowflake: pool() }), await Leaf.start({ snowflake: pool() })];
    try {
      await expect(Leaf.start({ snowflake: pool() })).rejects.toMatchObject({ code: 'LEAF_WORKERS_USED_UP' });
      const leaf = await start({ database: file(), tags: ['order'], snowflake: { ...pool(), waitForWorker: false } });
      expect(await leaf.ids.nextId('order')).toBe(1n);
      const exhausted = { code: 'LEAF_WORKERS_USED_UP', status: 503, headers: { 'retry-after': '1' } };
      expect(() => leaf.ids.snowflake()).toThrow(expect.objectContaining(exhausted));
      expect(leaf.readiness()).toMatchObject({
        segment: { health: { status: 'up' } },
        snowflake: { health: { status: 'down' } },
      });
      await holders[0]?.stop();
      await until('a worker ID', () => leaf.readiness().snowflake?.health.status === 'up');
      expect(leaf.ids.snowflake()).toBeGreaterThan(0n);
    } finally {
      for (const holder of holders) await holder.stop();
    }
  });

  it('starts without a registry that does not answer, if segment IDs can be served', async () => {
    const registry = { strategy: 'etcd', name: 'leaf', etcd: { endpoints: 'http://127.0.0.1:1' } } as const;
    const snowflake = { registry, waitForWorker: false };
    const leaf = await start({ database: file(), tags: ['order'], snowflake });
    expect(await leaf.ids.nextId('order')).toBe(1n);
    expect(leaf.readiness().snowflake?.health).toMatchObject({ status: 'down', code: 'LEAF_REGISTRY_UNREACHABLE' });
  });

  it('closes everything when its start fails', async () => {
    const first = await start({ snowflake: snowflake() });
    const second = snowflake();
    const closeDatabase = jest.spyOn(DataSource.prototype, 'destroy');
    const closeRegistry = jest.spyOn(second.registry.store, 'close');
    const failing = Leaf.start({ database: file(), snowflake: second });
    await expect(failing).rejects.toMatchObject({ code: 'LEAF_WORKER_HELD' });
    expect([closeDatabase.mock.calls.length, closeRegistry.mock.calls.length]).toEqual([1, 1]);
    const wrapStore = (): never => {
      throw new Error('no store');
    };
    await expect(Leaf.start({ database: file(), segment: { wrapStore } })).rejects.toThrow('no store');
    expect(closeDatabase).toHaveBeenCalledTimes(2);
    await first.stop();
  });

  it('names the database that its start waits for', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const [abort, reason] = [new AbortController(), new Error('enough')];
    const database = `mysql://leaf:secret@127.0.0.1:${await freePort()}/orders`;
    const starting = Leaf.start({ database, signal: abort.signal });
    await until('a warning', () => warn.mock.calls.length > 0);
    abort.abort(reason);
    await expect(starting).rejects.toBe(reason);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^The database mysql:\/\/127\.0\.0\.1:\d+\/orders is not available yet; /);
  });

  it('ends a start when its signal aborts, whatever the database does', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const connections = new Set<Socket>();
    silent.on('connection', (socket) => connections.add(socket.on('error', () => undefined)));
    try {
      const [abort, reason] = [new AbortController(), new Error('enough')];
      const database = `mysql://leaf@127.0.0.1:${port}/leaf?timeout=300`;
      const starting = Leaf.start({ database, snowflake: snowflake(), signal: abort.signal });
      await until('a connection', () => connections.size > 0);
      abort.abort(reason);
      await expect(starting).rejects.toBe(reason);
      await until('the end of the connection', () => [...connections].every(({ closed }) => closed));
      expect(records()).toStrictEqual([]);
    } finally {
      for (const socket of connections) socket.destroy();
      silent.close();
    }
  });

  it.each(['stop', 'signal'])('releases a worker ID that it acquires after a %s during the start', async (how) => {
    const abort = new AbortController();
    const options = snowflake();
    const { store } = options.registry;
    const create = store.create.bind(store);
    let begun = false;
    jest.spyOn(store, 'create').mockImplementation(async (...given) => {
      begun = true;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return create(...given);
    });
    const leaf = new Leaf({ snowflake: options, signal: abort.signal });
    const starting = leaf.init();
    starting.catch(() => undefined);
    await until('the acquisition', () => begun);
    if (how === 'stop') await leaf.stop();
    else abort.abort();
    await expect(starting).rejects.toThrow();
    expect(records()).toMatchObject([{ free: true }]);
    expect(leaf.jobs.filter(({ timer }) => timer !== undefined)).toStrictEqual([]);
  });

  it('does not wait for a registry that never answers', async () => {
    const options = snowflake();
    let fail: (() => void) | undefined;
    jest
      .spyOn(options.registry.store, 'readRegistry')
      .mockImplementation(() => new Promise((_, reject) => (fail = () => reject(new Error('closed')))));
    jest.spyOn(options.registry.store, 'abort').mockImplementation(() => Promise.resolve(fail?.()));
    const leaf = new Leaf({ snowflake: options });
    const starting = leaf.init();
    starting.catch(() => undefined);
    await until('a question', () => fail);
    await leaf.stop();
    await expect(starting).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
  });

  it('keeps its counters when a tag is removed', async () => {
    const leaf = await start({ database: file(), tags: ['order', { tag: 'invoice' }] });
    const registry = new Registry();
    await registerLeafMetrics(registry, leaf.ids);
    const total = async (): Promise<number> => {
      const lines = (await registry.metrics()).matchAll(/^leaf_ids_issued_total\{.*\} (\d+)$/gm);
      return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
    };
    await leaf.ids.nextIds('order', 5);
    await leaf.ids.nextIds('invoice', 3);
    expect(await total()).toBe(8);
    const loads = leaf.status().segment?.loads;
    await leaf.ids.nextIds('order', 2);
    leaf.segments?.generator.remove('order');
    expect(await total()).toBe(10);
    expect(leaf.status().segment).toMatchObject({ loads, issued: 10 });
  });
});

it('gives unused IDs back before the database of a global module closes', async () => {
  const options = { database: file(), tags: ['order'], isGlobal: true };
  for (const first of [1n, 2n]) {
    const app = await create(IdModule.forRoot(options));
    expect(await app.get(IdService).nextId('order')).toBe(first);
    await app.close();
  }
});

describe('The module of one mode', () => {
  async function inside(
    module: DynamicModule,
    look: (app: Awaited<ReturnType<typeof create>>) => unknown,
  ): Promise<void> {
    const app = await create(module);
    await look(app);
    await app.close();
  }

  it('serves segments, and lists its jobs with the scheduler', async () => {
    await inside(
      SegmentModule.forRoot({ database: { url: file(), migrate: true }, hotTagsFile: join(directory, 'hot') }),
      async (app) => {
        await app.get(TagStore).create({ tag: 'order', step: 10 });
        expect(await app.get(SegmentService).generator.next('order')).toBe(1n);
        expect(app.get(SnowflakeService)).toBeUndefined();
        expect(app.get(SchedulerRegistry).getIntervals()).toEqual([
          'leaf-number-watch',
          'leaf-tag-ends',
          'leaf-tag-refresh',
          'leaf-hot-tags',
        ]);
      },
    );
  });

  it('stops a job that the application deletes from the scheduler', async () => {
    const fast = {
      database: file(),
      tags: ['order'],
      segment: { refreshMs: 2 },
      snowflake: { ...snowflake(), reportMs: 2 },
    };
    await inside(IdModule.forRoot(fast), async (app) => {
      const scheduler = app.get(SchedulerRegistry);
      const refreshes = (): number => app.get(SegmentService).generator.refresh.snapshot().runs;
      const reports = (): number => app.get(SnowflakeService).snapshot().lease.report.runs;
      expect(scheduler.getIntervals()).toEqual(JOBS);
      await until('both jobs to run', () => refreshes() > 1 && reports() > 1);
      scheduler.deleteInterval('leaf-tag-refresh');
      const [refreshed, reported] = [refreshes(), reports()];
      await until('later reports', () => reports() > reported + 5);
      expect(refreshes()).toBe(refreshed);
      expect(scheduler.getIntervals()).not.toContain('leaf-tag-refresh');
    });
  });

  it('serves snowflake IDs, and may be left off by a factory', async () => {
    await inside(SnowflakeModule.forRoot(snowflake()), (app) => {
      expect(app.get(SnowflakeService).generator.next()).toBeGreaterThan(0n);
      expect(app.get(SchedulerRegistry).getIntervals()).toEqual(['leaf-time-report', 'leaf-registry-maintenance']);
    });
    expect(records()).toMatchObject([{ free: true }]);
    await inside(SnowflakeModule.forRootAsync({ useFactory: () => undefined }), (app) => {
      expect(app.get(SnowflakeService)).toBeUndefined();
    });
  });

  it('shows a registry without a worker ID, closes it with the application, and may be left off by a factory', async () => {
    const { registry } = snowflake();
    const close = jest.spyOn(registry.store, 'close');
    await inside(RegistryModule.forRoot({ registry }), async (app) => {
      await inside(SnowflakeModule.forRoot(snowflake()), () => undefined);
      expect(await app.get(WorkerRegistry).records()).toMatchObject([{ workerId: 0, record: { free: true } }]);
      expect(close).not.toHaveBeenCalled();
    });
    expect(close).toHaveBeenCalledTimes(1);
    await inside(RegistryModule.forRootAsync({ useFactory: () => undefined }), (app) => {
      expect(app.get(WorkerRegistry)).toBeUndefined();
    });
  });

  it('names the faults of its options', async () => {
    const options = { ...snowflake(), leaseTtlMs: 1 };
    await expect(create(RegistryModule.forRoot(options))).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringMatching(
        /^The options of RegistryModule are invalid:\n.* instance is not an option.*\n.* leaseTtlMs must/,
      ) as string,
    });
  });
});
