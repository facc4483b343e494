import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { createSegmentStore, sharedTarget, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect, FAILOVER } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';

interface Host {
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** SQLite needs no server: a directory for its files. */
async function startSqlite(): Promise<Host> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-columns-'));
  let count = 0;
  return {
    createDatabase: () => Promise.resolve(`sqlite:${join(directory, `${count++}.sqlite`)}`),
    stop: () => rm(directory, { recursive: true }),
  };
}

/** A table of tags with `maxId` and `step` as given. */
function tableOf(maxId: string, step: string): string {
  return `CREATE TABLE leaf_alloc (biz_tag varchar(128) NOT NULL PRIMARY KEY, ${maxId}, ${step}, description varchar(256), update_time timestamp NULL)`;
}

function workersOf(maxTimestamp: string): string {
  return `CREATE TABLE leaf_workerid_alloc (id integer PRIMARY KEY, ip varchar(127), port varchar(127), ip_port varchar(127) NOT NULL UNIQUE, ${maxTimestamp}, create_time timestamp NULL, update_time timestamp NULL)`;
}

const GOOD = tableOf('max_id bigint NOT NULL', 'step int NOT NULL');

/** What is made before Leaf comes, and what Leaf says of it. */
type Case = readonly [what: string, table: string, said: RegExp];

const COMMON: readonly Case[] = [
  [
    'max_id in a float',
    tableOf('max_id double precision NOT NULL', 'step int NOT NULL'),
    /leaf_alloc .* max_id of type double/,
  ],
  [
    'max_id as text',
    tableOf('max_id varchar(30) NOT NULL', 'step int NOT NULL'),
    /max_id of type .*char.* must be bigint/,
  ],
  [
    'a step with fractions',
    tableOf('max_id bigint NOT NULL', 'step real NOT NULL'),
    /step of type (real|double); it must be int/,
  ],
  ['no max_id', tableOf('last_id bigint NOT NULL', 'step int NOT NULL'), /leaf_alloc .* no column max_id/],
  ['no step', tableOf('max_id bigint NOT NULL', 'size int NOT NULL'), /no column step/],
  ['a time of a worker in a float', workersOf('max_timestamp real'), /leaf_workerid_alloc .* max_timestamp of type/],
  ['a worker without a time', workersOf('reserved bigint'), /leaf_workerid_alloc .* no column max_timestamp/],
];
const NARROW: readonly Case[] = [
  [
    'max_id in 32 bits',
    tableOf('max_id int NOT NULL', 'step int NOT NULL'),
    /max_id of type int(eger)?; it must be bigint/,
  ],
  [
    'max_id with a point',
    tableOf('max_id decimal(20,2) NOT NULL', 'step int NOT NULL'),
    /max_id of type (decimal|numeric)/,
  ],
  [
    'a step of 64 bits',
    tableOf('max_id bigint NOT NULL', 'step bigint NOT NULL'),
    /step of type bigint; it must be int/,
  ],
];

describe.each<[string, () => Promise<Host>, readonly Case[], boolean]>([
  ['MariaDB', startMariadb, [...COMMON, ...NARROW], true],
  ['PostgreSQL', startPostgres, [...COMMON, ...NARROW], true],
  ['SQLite', startSqlite, COMMON, false],
])('tables in %s', (_name, start, cases, shared) => {
  let host: Host;
  beforeAll(async () => (host = await start()));
  afterAll(() => host.stop());

  /** Carries out statements as somebody who came before Leaf. */
  async function prepare(url: string, ...statements: string[]): Promise<DataSource> {
    const target = parseDatabaseUrl(url);
    const options =
      'file' in target && target.file !== undefined
        ? ({ type: 'better-sqlite3', driver: (await import('libsql')).default, database: target.file } as const)
        : ({ type: target.dialect === 'mysql' ? 'mysql' : 'postgres', url } as const);
    const dataSource = await new DataSource(options).initialize();
    for (const statement of statements) await dataSource.query(statement);
    return dataSource;
  }

  it.each(cases)('with %s are refused, with and without migrations', async (_what, table, said) => {
    const url = await host.createDatabase();
    await (await prepare(url, table)).destroy();
    for (const migrate of [false, true]) {
      await expect(connect(parseDatabaseUrl(url), migrate)).rejects.toMatchObject({
        code: 'LEAF_DATABASE_UNUSABLE',
        message: expect.stringMatching(said) as string,
      });
    }
  });

  it('that are good are used as they are', async () => {
    const url = await host.createDatabase();
    const row = "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 9007199254740993, 10)";
    await (await prepare(url, GOOD, workersOf('max_timestamp bigint'), row)).destroy();
    const dataSource = await connect(parseDatabaseUrl(url));
    try {
      const { from, to } = await createSegmentStore(dataSource, FAILOVER).allocate('order', undefined);
      expect([from, to]).toEqual([9007199254740993n, 9007199254741002n]);
    } finally {
      await dataSource.destroy();
    }
  });

  if (shared) {
    it('of an application are looked at as well', async () => {
      const dataSource = await prepare(await host.createDatabase(), NARROW[0]![1]);
      try {
        await expect(connect(sharedTarget(dataSource))).rejects.toMatchObject({
          code: 'LEAF_DATABASE_UNUSABLE',
          message: expect.stringMatching(NARROW[0]![2]) as string,
        });
      } finally {
        await dataSource.destroy();
      }
    });
  }
});
