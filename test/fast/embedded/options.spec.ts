import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LeafClient, type LeafClientOptions } from '@leaf-ids/client';
import { LeafClientModule } from '@leaf-ids/client/nest';
import { IdModule, Leaf, type LeafOptions, SegmentModule, SnowflakeModule } from '@leaf-ids/id';
import Libsql from 'libsql';
import { DataSource } from 'typeorm';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';

beforeAll(() => {
  Logger.overrideLogger(false);
});
afterAll(() => {
  expect(existsSync('./never-opened')).toBe(false);
});

/** Options as a program without types can give them. */
type Untyped = Readonly<Record<string, unknown>>;

const database = 'sqlite:./never-opened/leaf.sqlite';
const MYSQL = 'mysql://leaf:secret@127.0.0.1:1/leaf';
const INSTANCE = { ip: '10.0.0.7', port: 1 };
const STRATEGIES = '"local", "database", "mysql", "zk_normal", "zk_recycle", "etcd", "kubernetes" or "custom"';
const MILLISECONDS = 'must be a whole number from 1 to 2147483647';
const LEAF_NAMES = 'database, migrate, accept, tags, segment, snowflake, signal, logger';

function invalid(subject: string, ...faults: string[]): object {
  const message = [`The options of ${subject} are invalid:`, ...faults].join('\n  - ');
  return { code: 'LEAF_CONFIG_INVALID', message };
}

async function startWith(module: DynamicModule): Promise<void> {
  @Module({ imports: [module] })
  class HostModule {}
  const app = await NestFactory.createApplicationContext(HostModule, { logger: false, abortOnError: false });
  await app.close();
}

const store = new InMemoryWorkerStore(new InMemoryWorkers());

/** Wrong options of `Leaf.start` and `IdModule`, and what is wrong. */
const LEAF_FAULTS: [Untyped, ...string[]][] = [
  [{ databse: database }, 'databse is not an option; did you mean database?'],
  [{ database, tag: ['order'] }, 'tag is not an option; did you mean tags?'],
  [{ database, waitMs: 5 }, `waitMs is not an option; the options are ${LEAF_NAMES}`],
  [{ database: 5 }, 'database must be a URL or { dataSource }, not 5'],
  [{ database: '' }, 'database must be a string that is not empty, not ""'],
  [
    { database: 'oracle://db/leaf' },
    'database must be mysql://user:password@host:3306/database, or postgres://user:password@host:5432/database, or sqlite:<file>',
  ],
  [
    { database: 'mysql://leaf:secret@db' },
    'database must name a host and a database: mysql://user:password@host:3306/database',
  ],
  [
    { database: 'mysql://leaf:secret@db/leaf?sslmod=require' },
    'database has the unknown parameter sslmod; use one of sslmode, ssl, sslrootcert, sslcert, sslkey, connections, timeout, socket, passwordFile, passwordCommand',
  ],
  [{ database: {} }, 'database.dataSource is required'],
  [
    { database: { dataSorce: 5 } },
    'database.dataSorce is not an option; did you mean database.dataSource?',
    'database.dataSource is required',
  ],
  [{ database: { dataSource: {} } }, 'database.dataSource must be a DataSource, not an object'],
  [
    { database: { dataSource: new DataSource({ type: 'better-sqlite3', driver: Libsql, database: ':memory:' }) } },
    "database.dataSource cannot be used: Leaf cannot share a data source of type better-sqlite3. SQLite has one writer at a time, so an allocation during a transaction of the application would wait for its own transaction to end. Give Leaf a separate database, for example database: 'sqlite:./data/leaf.sqlite'",
  ],
  [{ database, migrate: 'yes' }, 'migrate must be true or false, not "yes"'],
  [{ database, accept: 'sync_binlog' }, 'accept must be an array, not "sync_binlog"'],
  [
    { database, accept: ['sync_binlg'] },
    'accept[0] must be "innodb_flush_log_at_trx_commit", "sync_binlog", "wsrep_provider_options", "fsync" or "synchronous_commit", not "sync_binlg"',
  ],
  [{ database, tags: 'order' }, 'tags must be an array, not "order"'],
  [
    { database, tags: ['or der'] },
    'tags[0] cannot be used: "or der" is not a valid tag; use 1 to 128 letters, digits, "-", "_", "." or ":", but not "." or ".."',
  ],
  [{ database, tags: [{ step: 1 }] }, 'tags[0].tag is required'],
  [{ database, tags: [{ tag: 'order', step: 0 }] }, 'tags[0].step must be a whole number of 1 or more, not 0'],
  [{ database, tags: [{ tag: 'order', step: 1, maxId: 5 }] }, 'tags[0].maxId must be a bigint such as 1n, not 5'],
  [
    { database, tags: [{ tag: 'order', step: 1, rest: 'daily' }] },
    'tags[0].rest is not an option; did you mean tags[0].reset?',
  ],
  [
    { database, tags: [{ tag: 'order', step: 1, reset: 'hourly' }] },
    'tags[0] cannot be used: The tag cannot be stored: reset must be one of daily, weekly, monthly, quarterly, yearly, or fiscal: with the first day of the year as in fiscal:04-01',
  ],
  [{ database, segment: true }, 'segment must be an object, not true'],
  [{ database, segment: { waitMs: 'abc' } }, 'segment.waitMs must be a whole number from 0 to 2147483647, not "abc"'],
  [{ database, segment: { prefetchRatio: 7 } }, 'segment.prefetchRatio must be a number from 0.001 to 1, not 7'],
  [{ database, segment: { maxstep: 5 } }, 'segment.maxstep is not an option; did you mean segment.maxStep?'],
  [{ database, segment: { refreshMs: 2 ** 31 } }, `segment.refreshMs ${MILLISECONDS}, not 2147483648`],
  [{ database, segment: { wrapStore: {} } }, 'segment.wrapStore must be a function, not an object'],
  [{ database, snowflake: true }, 'snowflake must be an object, not true'],
  [
    { database, snowflake: { registry: 'zk_recycle' } },
    'snowflake.registry must be "database", "mysql" or an object such as { strategy: "zk_recycle", … }, not "zk_recycle"',
  ],
  [
    { database, snowflake: { registry: 'databse' } },
    'snowflake.registry must be "database", "mysql" or an object such as { strategy: "zk_recycle", … }, not "databse"',
  ],
  [
    { database, snowflake: { registry: 5 } },
    'snowflake.registry must be an object such as { strategy: "database", … }, not 5',
  ],
  [{ database, snowflake: { registry: {} } }, 'snowflake.registry.strategy is required'],
  [
    { database, snowflake: { registry: { strategy: 'zk' } } },
    `snowflake.registry.strategy must be ${STRATEGIES}, not "zk"`,
  ],
  [
    { snowflake: { registry: { strategy: 'mysql', migrate: true } } },
    'snowflake.registry must have exactly one of url, dataSource',
  ],
  [{ snowflake: { registry: { strategy: 'database', url: MYSQL } } }, 'snowflake.registry.migrate is required'],
  [
    { snowflake: { registry: { strategy: 'local', workers: {}, directory: '/a' } } },
    'snowflake.registry.workers must contain at least one instance',
  ],
  [
    { snowflake: { registry: { strategy: 'local', workers: { '10.0.0.7:1': 1, '10.0.0.8:1': 1 }, directory: '/a' } } },
    'snowflake.registry.workers must give every instance a worker ID of its own',
  ],
  [
    { snowflake: { registry: { strategy: 'local', workers: { '*': 1024 }, directory: '/a' } } },
    'snowflake.registry.workers["*"] must be a whole number from 0 to 1023, not 1024',
  ],
  [
    { snowflake: { registry: { strategy: 'local', workers: { '*': 0 }, directry: '/a' } } },
    'snowflake.registry.directry is not an option; did you mean snowflake.registry.directory?',
    'snowflake.registry.directory is required',
  ],
  [
    {
      snowflake: {
        registry: { strategy: 'zk_recycle', name: 'leaf', zookeeper: { address: 'zk1:x', auth: 'secret' } },
      },
    },
    'snowflake.registry.zookeeper.address has an invalid host "zk1:x"; use host:port,host:port, optionally with /chroot at the end',
    'snowflake.registry.zookeeper.auth must be digest:user:password; other schemes are not supported',
  ],
  [
    { snowflake: { registry: { strategy: 'custom', store: {}, policy: 'poll' } } },
    'snowflake.registry.store must be a WorkerStore, not an object',
    'snowflake.registry.policy must be "fixed" or "pool", not "poll"',
  ],
  [
    { database, snowflake: { instance: { port: 70_000 } } },
    'snowflake.instance.port must be a whole number from 0 to 65535, not 70000',
  ],
  [
    { database, snowflake: { layout: { timeBits: 41, workerBits: 10, sequenceBits: 13, epoch: 0 } } },
    'snowflake.layout cannot be used: Invalid bit layout: the bits add up to 64; a positive 64-bit ID has at most 63',
  ],
  [
    { database, snowflake: { workers: '9-5', datacenter: -1 } },
    'snowflake.workers must be the first and the last worker ID, for example 96-127',
    'snowflake.datacenter must be a whole number of 0 or more, not -1',
  ],
  [
    { database, snowflake: { registry: 'mysql', workers: '0-5' } },
    'snowflake.workers cannot be used with the registry mysql, which numbers its servers itself; use a pool, such as database or zk_recycle',
  ],
  [
    { database, snowflake: { datacenter: 1 } },
    'snowflake.datacenter needs a layout with data center bits, such as 41,5+5,12',
  ],
  [{ database, snowflake: { reportMs: 0 } }, `snowflake.reportMs ${MILLISECONDS}, not 0`],
  [
    { database, snowflake: { registry: 'mysql', reportMs: 6000 } },
    'snowflake.leaseTtlMs (10000) must be at least twice the report interval (6000), so that the lease survives one failed report',
  ],
  [{ database, signal: new AbortController() }, 'signal must be an AbortSignal, not an object'],
];

describe('Leaf.start and IdModule', () => {
  it.each(LEAF_FAULTS)('refuse %j', async (options, ...faults) => {
    await expect(Leaf.start(options as LeafOptions)).rejects.toMatchObject(invalid('Leaf', ...faults));
    const asked = IdModule.forRootAsync({ useFactory: () => options });
    await expect(startWith(asked)).rejects.toMatchObject(invalid('IdModule', ...faults));
    await expect(startWith(IdModule.forRoot(options as LeafOptions))).rejects.toMatchObject(
      invalid('IdModule', ...faults),
    );
  });

  const missing = 'database is undefined: is an environment variable not set? ';
  it.each<[LeafOptions, string]>([
    [{}, missing],
    [{ database: undefined } as unknown as LeafOptions, missing],
    [{ segment: false }, missing],
    [{ database, segment: false }, ''],
  ])('refuse %j, which enables nothing', async (options, hint) => {
    const fault = `they enable neither segment mode nor snowflake mode. ${hint}Set database to a URL such as mysql://user:password@host:3306/database for segment IDs, snowflake for snowflake IDs, or both`;
    await expect(Leaf.start(options)).rejects.toMatchObject(invalid('Leaf', fault));
    await expect(startWith(IdModule.forRoot(options))).rejects.toMatchObject(invalid('IdModule', fault));
  });

  it('list every fault at once, and never name a setting of leaf-server', async () => {
    const options = {
      database: 'mysql://leaf:secret@db',
      tag: ['order'],
      segment: { minsize: 5, waitMs: 'abc' },
      snowflake: { registry: 'redis', instance: { host: 'a' } },
    } as unknown as LeafOptions;
    const faults = [
      'tag is not an option; did you mean tags?',
      'database must name a host and a database: mysql://user:password@host:3306/database',
      'segment.minsize is not an option; the options are prefetchRatio, waitMs, durationMs, maxStep, database, refreshMs, hotTagsFile, tagEndsFile, wrapStore, logger',
      'segment.waitMs must be a whole number from 0 to 2147483647, not "abc"',
      'snowflake.registry must be "database", "mysql" or an object such as { strategy: "zk_recycle", … }, not "redis"',
      'snowflake.instance.host is not an option; the options are ip, port',
    ];
    await expect(Leaf.start(options)).rejects.toMatchObject(invalid('Leaf', ...faults));
  });

  it.each([
    [{ tags: ['order'] }, 'database is required by segment mode, and by the worker registries "database" and "mysql"'],
    [{ snowflake: {} }, 'database is required by segment mode, and by the worker registries "database" and "mysql"'],
    [{ segment: {} }, 'database is required by segment mode, and by the worker registries "database" and "mysql"'],
    [
      { database, segment: false as const, tags: ['order'] },
      'tags needs segment mode, and the option segment is false',
    ],
  ])('refuse %j, which lacks something', async (options, fault) => {
    await expect(Leaf.start(options)).rejects.toMatchObject(invalid('Leaf', fault));
    await expect(startWith(IdModule.forRoot(options))).rejects.toMatchObject(invalid('IdModule', fault));
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['order', '"order"'],
  ])('refuse %j in place of options', async (options, shown) => {
    const fault = `they must be an object, not ${shown}`;
    const given = options as unknown as LeafOptions;
    await expect(Leaf.start(given)).rejects.toMatchObject(invalid('Leaf', fault));
    const asked = IdModule.forRootAsync({ useFactory: () => given });
    await expect(startWith(asked)).rejects.toMatchObject(invalid('IdModule', fault));
  });

  it('say that a factory returns a data source, not its token', async () => {
    const options = { database: { dataSource: DataSource } } as unknown as LeafOptions;
    const fault = 'database.dataSource must be a DataSource, not a function';
    const asked = IdModule.forRootAsync({ useFactory: () => options });
    await expect(startWith(asked)).rejects.toMatchObject(invalid('IdModule', fault));
  });

  it('take an undefined option for an omitted one', async () => {
    const registry = { strategy: 'custom', store, policy: 'fixed', remembers: true };
    const options = {
      ...{ database: undefined, migrate: undefined, tags: undefined, segment: undefined, signal: undefined },
      snowflake: { registry, instance: { ip: undefined, port: 5 }, waitMs: undefined, reportMs: undefined },
    } as unknown as LeafOptions;
    const leaf = await Leaf.start(options);
    expect(leaf.status().registry?.instance).toMatch(/^\d+\.\d+\.\d+\.\d+:5$/);
    expect(leaf.ids.snowflake()).toBeGreaterThan(0n);
    await leaf.stop();
  });
});

it.each<[Untyped, ...string[]]>([
  [{}, 'database is required'],
  [{ database: MYSQL }, 'database must be an object, not "mysql://…"'],
  [{ database: { url: MYSQL } }, 'database.migrate is required'],
  [{ database: { migrate: true } }, 'database must have exactly one of url, shards, dataSource'],
  [
    { database: { migrate: true, shards: { databases: { a: 'mysql://leaf@db' } } } },
    'database.shards.databases["a"] must name a host and a database: mysql://user:password@host:3306/database',
  ],
  [{ database: { url: MYSQL, migrate: true }, refreshms: 5 }, 'refreshms is not an option; did you mean refreshMs?'],
])('SegmentModule refuses %j', async (options, ...faults) => {
  const module = SegmentModule.forRoot(options as unknown as Parameters<typeof SegmentModule.forRoot>[0]);
  await expect(startWith(module)).rejects.toMatchObject(invalid('SegmentModule', ...faults));
});

it.each<[Untyped, ...string[]]>([
  [{}, 'registry is required', 'instance is required'],
  [
    { registry: 'database', instance: INSTANCE },
    'registry must be an object such as { strategy: "database", … }, not "database"',
  ],
  [{ registry: { strategy: 'custom', store, policy: 'pool' }, instance: { ip: 'a' } }, 'instance.port is required'],
  ...['leaseTtlMs', 'horizonMs'].map((name): [Untyped, string] => [
    { registry: { strategy: 'custom', store, policy: 'fixed', remembers: true }, instance: INSTANCE, [name]: 5999 },
    'leaseTtlMs (5999) must be at least twice the report interval (3000), so that the lease survives one failed report',
  ]),
])('SnowflakeModule refuses %j', async (options, ...faults) => {
  const module = SnowflakeModule.forRoot(options as unknown as Parameters<typeof SnowflakeModule.forRoot>[0]);
  await expect(startWith(module)).rejects.toMatchObject(invalid('SnowflakeModule', ...faults));
});

const servers = ['http://10.0.0.5:8080'];

it.each<[Untyped, ...string[]]>([
  [{ server: servers }, 'server is not an option; did you mean servers?', 'servers is required'],
  [{ servers: servers[0] }, 'servers must be an array, not "http://…"'],
  [{ servers: [] }, 'servers must contain at least one server'],
  [{ servers: ['me:secret@10.0.0.5'] }, 'servers[0] must be an http or https URL, not "…@10.0.0.5"'],
  [
    { servers: [{ uri: servers[0] }] },
    'servers[0].uri is not an option; did you mean servers[0].url?',
    'servers[0].url is required',
  ],
  [{ servers, timeoutMs: '5s' }, `timeoutMs ${MILLISECONDS}, not "5s"`],
  [{ servers, segment: { minsize: 5 } }, 'segment.minsize is not an option; did you mean segment.minSize?'],
  [{ servers, preload: { tags: 'order' } }, 'preload.tags must be an array, not "order"'],
  [{ servers, preload: ['order'] }, 'preload must be an object, not an array'],
  [
    { servers, layout: { timeBits: 41 } },
    'layout.workerBits is required',
    'layout.sequenceBits is required',
    'layout.epoch is required',
  ],
  [{ servers, token: 'a b' }, 'token contains characters that a header cannot carry'],
  [{ servers, token: 5 }, 'token must be a string or a function, not 5'],
  [{ servers, events: { onload: 5 } }, 'events.onload is not an option; did you mean events.onLoad?'],
  [{ servers, segment: { minSize: 10, maxSize: 5 } }, 'segment.maxSize (5) must not be less than segment.minSize (10)'],
])('LeafClient refuses %j', (options, ...faults) => {
  expect(() => new LeafClient(options as unknown as LeafClientOptions)).toThrow(
    expect.objectContaining(invalid('LeafClient', ...faults)),
  );
});

it('the modules refuse an isGlobal that is no flag', () => {
  const isGlobal = 'false' as unknown as boolean;
  const fault = 'isGlobal must be true or false, not "false"';
  expect(() => IdModule.forRoot({ database, isGlobal })).toThrow(expect.objectContaining(invalid('IdModule', fault)));
  expect(() => LeafClientModule.forRoot({ servers: ['http://10.0.0.5:8080'], isGlobal })).toThrow(
    expect.objectContaining(invalid('LeafClientModule', fault)),
  );
});

it('LeafClientModule stops the start with the faults of its options', async () => {
  const options = { server: 'http://10.0.0.5:8080' } as unknown as LeafClientOptions;
  const faults = ['server is not an option; did you mean servers?', 'servers is required'];
  await expect(startWith(LeafClientModule.forRoot(options))).rejects.toMatchObject(invalid('LeafClient', ...faults));
});
