import 'reflect-metadata';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type DynamicModule, Injectable, type INestApplicationContext, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import Libsql from 'libsql';
import { Registry } from 'prom-client';
import { TagStore, type WorkerRecord } from '@leaf-ids/core';
import type { RegistryOptions } from '@leaf-ids/registry';
import { DataSource } from 'typeorm';
import {
  EmbeddedIdService,
  IdModule,
  type IdModuleOptions,
  IdService,
  LeafHealthIndicator,
  registerLeafMetrics,
} from '@leaf-ids/id';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { until } from '../../support/until';

type Imports = NonNullable<DynamicModule['imports']>;

const running: INestApplicationContext[] = [];

async function start(...imports: Imports): Promise<INestApplicationContext> {
  @Module({ imports })
  class HostModule {}
  const app = await NestFactory.createApplicationContext(HostModule, { logger: false, abortOnError: false });
  running.push(app);
  return app;
}

async function stop(app: INestApplicationContext): Promise<void> {
  running.splice(running.indexOf(app), 1);
  await app.close();
}

let directory: string;

beforeEach(async () => (directory = await makeDataDirectory()));
afterEach(async () => {
  for (const app of running.splice(0)) await app.close();
  await removeDataDirectory(directory);
});

const file = (name = 'leaf'): string => `sqlite:${join(directory, `${name}.sqlite`)}`;
const custom = (workers: InMemoryWorkers): RegistryOptions => ({
  strategy: 'custom',
  store: new InMemoryWorkerStore(workers),
  policy: 'fixed',
  remembers: true,
});

describe('IdModule.forRoot', () => {
  it('needs a URL only, and goes on where it stopped', async () => {
    const options = { database: file(), tags: ['order'], snowflake: { registry: 'mysql' } } satisfies IdModuleOptions;
    const app = await start(IdModule.forRoot(options));
    const ids = app.get(IdService);
    expect(await ids.nextIds('order', 3)).toEqual([1n, 2n, 3n]);
    expect(ids.decode(ids.snowflake())).toMatchObject({ workerId: 1 });
    await stop(app);
    const again = await start(IdModule.forRoot(options));
    expect(await again.get(IdService).nextId('order')).toBe(4n);
    expect(again.get(IdService).decode(again.get(IdService).snowflake())).toMatchObject({ workerId: 1 });
  });

  it('leaves out the mode that it is not asked for', async () => {
    const snowflakeOnly = await start(IdModule.forRoot({ snowflake: { registry: custom(new InMemoryWorkers(7)) } }));
    const ids = snowflakeOnly.get(IdService);
    expect(ids.decode(ids.snowflake()).workerId).toBe(7);
    await expect(ids.nextId('order')).rejects.toMatchObject({ code: 'LEAF_SEGMENT_DISABLED' });
    const segmentOnly = await start(IdModule.forRoot({ database: file() }));
    expect(() => segmentOnly.get(IdService).snowflake()).toThrow('disabled');
    expect(Object.keys(segmentOnly.get(LeafHealthIndicator).check('leaf').leaf)).toEqual([
      'status',
      'state',
      'segment',
    ]);
  });

  it('has the health of Leaf beside a class of the application that is named as one of Terminus', async () => {
    class HealthIndicatorService {
      readonly isOwn = true;
    }
    @Module({ providers: [HealthIndicatorService] })
    class OwnModule {}
    const app = await start(OwnModule, IdModule.forRoot({ database: file() }));
    expect(app.get(LeafHealthIndicator).check('leaf').leaf.status).toBe('up');
  });

  it('refuses options that need a database without one', async () => {
    await expect(start(IdModule.forRoot({ tags: ['order'] }))).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    await expect(start(IdModule.forRoot({ snowflake: { registry: 'mysql' } }))).rejects.toThrow(
      'database is required by segment mode',
    );
  });

  it('does not change a declared tag that exists', async () => {
    const database = file();
    const tags = [{ tag: 'order', step: 10, maxId: 1001n }];
    const app = await start(IdModule.forRoot({ database, tags }));
    expect(await app.get(IdService).nextId('order')).toBe(1001n);
    await stop(app);
    const again = await start(IdModule.forRoot({ database, tags: [{ tag: 'order', step: 10, maxId: 5n }] }));
    expect(await again.get(IdService).nextId('order')).toBe(1002n);
  });

  it('refuses a declared tag that exists with another kind, and names the settings', async () => {
    const database = file();
    await stop(await start(IdModule.forRoot({ database, tags: ['order'] })));
    const tags = [{ tag: 'order', order: 'strict' as const, reset: 'daily' as const }];
    const refusal = await start(IdModule.forRoot({ database, tags })).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('order strict, reset daily, but it exists with order relaxed, reset none'),
    });
  });

  it('refuses a declared strict tag that was deleted', async () => {
    const database = file();
    const tags = [{ tag: 'ledger', order: 'strict' as const }];
    const app = await start(IdModule.forRoot({ database, tags }));
    expect(await app.get(IdService).nextId('ledger')).toBe(1n);
    await app.get(TagStore).remove('ledger');
    await stop(app);
    await expect(start(IdModule.forRoot({ database, tags }))).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('A tag "ledger" was deleted'),
    });
  });

  it('refuses a declared first ID above the position of a tag that exists', async () => {
    const database = file();
    await stop(await start(IdModule.forRoot({ database, tags: ['order'] })));
    await expect(start(IdModule.forRoot({ database, tags: [{ tag: 'order', maxId: 1000n }] }))).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringMatching(
        /first ID 1000 of the tag "order", which exists and continues at 1: .*Raise maxId/,
      ),
    });
  });

  it('warns of a declared tag that exists with another step', async () => {
    const database = file();
    await stop(await start(IdModule.forRoot({ database, tags: ['order'] })));
    const warn = jest.spyOn(Logger.prototype, 'warn');
    await stop(await start(IdModule.forRoot({ database, tags: [{ tag: 'order', step: 10, max: 999n }] })));
    const expected = 'the tag "order" with step 10, max 999, but it exists with step 2000, max none';
    expect(warn.mock.calls.map(([message]) => String(message)).filter((line) => line.includes(expected))).toHaveLength(
      1,
    );
    warn.mockRestore();
  });
});

it('does not share a data source on SQLite, whose transactions would take IDs back', async () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', driver: Libsql, database: ':memory:' });
  await expect(start(IdModule.forRoot({ database: { dataSource } }))).rejects.toMatchObject({
    code: 'LEAF_CONFIG_INVALID',
  });
});

describe('IdModule.forRootAsync', () => {
  @Injectable()
  class Settings {
    readonly database = file('async');
  }

  @Module({ providers: [Settings], exports: [Settings] })
  class SettingsModule {}

  it('takes what it needs from other modules, once', async () => {
    let asked = 0;
    const app = await start(
      IdModule.forRootAsync({
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: ({ database }: Settings) => {
          asked++;
          return { database, tags: ['order'], snowflake: { registry: 'mysql' } };
        },
      }),
    );
    expect(await app.get(IdService).nextId('order')).toBe(1n);
    expect(app.get(IdService).snowflake()).toBeGreaterThan(0n);
    expect(asked).toBe(1);
  });

  it('finds out at the start which modes there are', async () => {
    const segments = await start(IdModule.forRootAsync({ useFactory: () => Promise.resolve({ database: file() }) }));
    expect(() => segments.get(IdService).snowflake()).toThrow('disabled');
    const snowflake = { registry: custom(new InMemoryWorkers()) };
    const snowflakes = await start(IdModule.forRootAsync({ useFactory: () => Promise.resolve({ snowflake }) }));
    await expect(snowflakes.get(IdService).nextId('order')).rejects.toMatchObject({ code: 'LEAF_SEGMENT_DISABLED' });
  });
});

describe('two of them in one application', () => {
  it('are refused if both are global, before anything is opened', async () => {
    const module = (name: string, isGlobal: boolean) => IdModule.forRoot({ database: file(name), isGlobal });
    await expect(start(module('orders', true), module('invoices', true))).rejects.toMatchObject({
      code: 'LEAF_CONFIG_INVALID',
      message: expect.stringContaining('2 global modules with an IdService (IdModule, IdModule)'),
    });
    expect(await readdir(directory)).toStrictEqual([]);
    const app = await start(module('orders', true), module('invoices', false));
    expect(app.get(IdService)).toBeDefined();
  });

  @Injectable()
  class Orders {
    constructor(readonly ids: IdService) {}
  }

  @Injectable()
  class Invoices {
    constructor(readonly ids: IdService) {}
  }

  it('have a database, a worker and metrics each', async () => {
    const storage = new InMemoryWorkers();
    const module = (name: string, port: number): DynamicModule =>
      IdModule.forRoot({
        database: file(name),
        tags: [name],
        snowflake: { registry: custom(storage), instance: { port }, reportMs: 20 },
      });

    @Module({ imports: [module('orders', 1)], providers: [Orders] })
    class OrdersModule {}

    @Module({ imports: [module('invoices', 2)], providers: [Invoices] })
    class InvoicesModule {}

    const app = await start(OrdersModule, InvoicesModule);
    const [orders, invoices] = [app.get(Orders).ids, app.get(Invoices).ids];
    expect(await orders.nextId('orders')).toBe(1n);
    expect(await invoices.nextId('invoices')).toBe(1n);
    await expect(orders.nextId('invoices')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    const workers = [orders, invoices].map((ids) => ids.decode(ids.snowflake()).workerId);
    expect(new Set(workers).size).toBe(2);
    const records = (): WorkerRecord[] => [...storage.records.values()].map(({ record }) => record);
    await until('a report of each', () => records().every(({ write }) => write >= 3));

    const registry = new Registry();
    await registerLeafMetrics(registry, orders as EmbeddedIdService);
    await registerLeafMetrics(registry, invoices as EmbeddedIdService, { prefix: 'invoices_' });
    await orders.nextIds('orders', 10);
    await registry.metrics();
    const text = await registry.metrics();
    expect(text).toContain('\nleaf_ids_issued_total{mode="segment",tag="orders"} 11\n');
    expect(text).toContain('\nleaf_ids_issued_total{mode="snowflake",tag=""} 1\n');
    expect(text).toContain('\ninvoices_ids_issued_total{mode="segment",tag="invoices"} 1\n');
    await stop(app);
    expect(records().filter(({ free }) => free)).toHaveLength(2);
  });
});
