import { DataSource } from 'typeorm';
import { type Allocation, LeafError } from '@leaf-ids/core';
import { createSegmentStore, createTagStore, sharedTarget, parseDatabaseUrl } from '@leaf-ids/persistence';
import { MYSQL_WORKERS } from '../../../libs/persistence/src/dialects/mysql/mysql-statements';
import { connect, FAILOVER } from '../../support/contract/sql-stores';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

/** What would end a literal, or begin another statement, if it were taken for anything but text. */
const HOSTILE = `it's "quoted" \\' ; -- \`x\` \\`;

async function useEverything(url: string): Promise<void> {
  const dataSource = await connect(parseDatabaseUrl(url));
  try {
    const tags = createTagStore(dataSource);
    const store = createSegmentStore(dataSource, FAILOVER);
    const made = { tag: 'order', step: 10, description: HOSTILE };
    expect(await tags.create(made)).toMatchObject({ ...made, maxId: 1n });
    const asked = Array.from({ length: 20 }, () => store.allocate('order', undefined));
    expect(startsOf(await Promise.all(asked))).toEqual(
      Array.from({ length: 20 }, (_, index) => BigInt(index * 10 + 1)),
    );
    const changed = { step: 20, description: `${HOSTILE}${HOSTILE}` };
    expect((await tags.change('order', changed)).after).toMatchObject(changed);
    expect(Math.abs((await tags.find('order'))!.updatedAt - Date.now())).toBeLessThan(60_000);
    await tags.remove('order');
    expect(await tags.create({ tag: 'order', step: 5 })).toMatchObject({ maxId: 201n });
  } finally {
    await dataSource.destroy();
  }
}

function startsOf(ranges: readonly Allocation[]): bigint[] {
  return ranges.map(({ from }) => from).sort((a, b) => Number(a - b));
}

describe('MariaDB', () => {
  let server: MariadbServer;
  beforeAll(async () => (server = await startMariadb()));
  afterEach(() => server.query("SET GLOBAL sql_mode = DEFAULT; SET GLOBAL time_zone = 'SYSTEM'"));
  afterAll(() => server.stop());

  it.each([
    ['NO_BACKSLASH_ESCAPES,ANSI_QUOTES', '+00:00'],
    ['ORACLE,EMPTY_STRING_IS_NULL,PAD_CHAR_TO_FULL_LENGTH', '-11:00'],
    ['', '+13:00'],
    ['TRADITIONAL,NO_UNSIGNED_SUBTRACTION,PIPES_AS_CONCAT,IGNORE_SPACE,SIMULTANEOUS_ASSIGNMENT', '+05:30'],
  ])('in the SQL mode "%s" and the time zone %s serves as ever', async (mode, zone) => {
    await server.query(
      `SET GLOBAL sql_mode = '${mode}'; SET GLOBAL time_zone = '${zone}'; SET GLOBAL sql_auto_is_null = 1`,
    );
    await useEverything(await server.createDatabase());
  });

  it('set to SERIALIZABLE serves as ever', async () => {
    await server.query("SET GLOBAL tx_isolation = 'SERIALIZABLE'");
    try {
      await useEverything(await server.createDatabase());
    } finally {
      await server.query('SET GLOBAL tx_isolation = DEFAULT');
    }
  });

  it('whose mode is changed while connections are open is no other one for new ones', async () => {
    const dataSource = await connect(parseDatabaseUrl(await server.createDatabase()));
    try {
      await server.query("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES'");
      const ask = (): Promise<{ mode: string }[]> => dataSource.query('SELECT @@sql_mode AS mode, SLEEP(0.2)');
      const answers = await Promise.all(Array.from({ length: 8 }, ask));
      expect(new Set(answers.map(([row]) => row?.mode))).toEqual(new Set(['STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION']));
    } finally {
      await dataSource.destroy();
    }
  });

  it('serves an application whose own sessions begin with NO_BACKSLASH_ESCAPES', async () => {
    await server.query("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES'");
    const host = await new DataSource({ type: 'mysql', url: await server.createDatabase() }).initialize();
    const dataSource = await connect(sharedTarget(host));
    try {
      const description = "a \\' b \\";
      expect(await createTagStore(dataSource).create({ tag: 'a', step: 1, description })).toMatchObject({
        description,
      });
    } finally {
      await dataSource.destroy();
      await host.destroy();
    }
  });

  it('knows the time in the hour that comes twice', async () => {
    // 2023-10-29T01:30:00Z, when clocks of Berlin showed 02:30 for the second time.
    const second = 1_698_543_000;
    const zone = (start: number, offset: number): string => `(9001, ${start}, ${offset === 7200 ? 0 : 1})`;
    const rows = await server.query(`
      INSERT IGNORE INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (9001, 'N');
      INSERT IGNORE INTO mysql.time_zone_name VALUES ('Leaf/Twice', 9001);
      INSERT IGNORE INTO mysql.time_zone_transition_type VALUES (9001, 0, 7200, 1, 'S'), (9001, 1, 3600, 0, 'W');
      INSERT IGNORE INTO mysql.time_zone_transition VALUES ${zone(1_679_792_400, 7200)}, ${zone(1_698_541_200, 3600)};
      SET time_zone = 'Leaf/Twice', timestamp = ${second}.25;
      SELECT ${MYSQL_WORKERS.now} AS now`);
    expect(Number((rows.at(-1) as unknown as { now: string }[])[0]?.now)).toBe(second * 1000 + 250);
  });
});

describe('PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => (server = await startPostgres()));
  afterAll(() => server.stop());

  async function createDatabase(settings: Readonly<Record<string, string>>): Promise<string> {
    const url = await server.createDatabase();
    const name = new URL(url).pathname.slice(1);
    for (const [key, value] of Object.entries(settings))
      await server.query(`ALTER DATABASE ${name} SET ${key} = ${value}`);
    return url;
  }

  it.each([
    {
      standard_conforming_strings: 'off',
      backslash_quote: 'on',
      DateStyle: "'German, DMY'",
      TimeZone: "'Asia/Kathmandu'",
    },
    {
      IntervalStyle: 'sql_standard',
      DateStyle: "'SQL, MDY'",
      extra_float_digits: '-15',
      TimeZone: "'America/St_Johns'",
    },
    { bytea_output: 'escape', transform_null_equals: 'on', lc_numeric: "'C'", synchronous_commit: 'off' },
  ])('with %j serves as ever', async (settings) => {
    await useEverything(await createDatabase(settings));
  });

  it('set to serializable gives nothing twice, and goes on', async () => {
    const dataSource = await connect(
      parseDatabaseUrl(await createDatabase({ default_transaction_isolation: 'serializable' })),
    );
    try {
      await createTagStore(dataSource).create({ tag: 'order', step: 10 });
      const store = createSegmentStore(dataSource, FAILOVER);
      const asked = Array.from({ length: 20 }, () => store.allocate('order', undefined));
      const settled = await Promise.allSettled(asked);
      const starts = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value.from] : []));
      expect(new Set(starts).size).toBe(starts.length);
      for (const one of settled) {
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
      }
      const { from } = await store.allocate('order', undefined);
      expect(from).toBeGreaterThan(starts.reduce((a, b) => (a > b ? a : b), 0n));
    } finally {
      await dataSource.destroy();
    }
  });

  it('that takes no writes does not serve, and says so', async () => {
    const opening = connect(parseDatabaseUrl(await createDatabase({ default_transaction_read_only: 'on' })));
    const error: unknown = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LeafError);
    expect(error).toMatchObject({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringContaining('read-only transaction') as string,
    });
  });
});
