import { migrations } from '@leaf-ids/migrations';
import { DataSource, type QueryRunner } from 'typeorm';
import { createSegmentStore, FIRST_TAG, parseDatabaseUrl } from '@leaf-ids/persistence';
import { DEFAULT_LIMITS } from '../../../libs/persistence/src/connections/connection-source';
import { dataSourceOptions } from '../../../libs/persistence/src/database/open-database';
import { DIALECTS } from '../../../libs/persistence/src/dialects/dialects';
import { migrate, MigrationsLocked } from '../../../libs/persistence/src/schema/migrate';
import { connect, FAILOVER } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';

interface Host {
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

const COLUMNS = {
  mysql: `SELECT CONCAT(table_name, '.', column_name, ' ', column_type) AS line FROM information_schema.columns
    WHERE table_schema = DATABASE() ORDER BY line`,
  postgres: `SELECT table_name || '.' || column_name || ' ' || data_type AS line FROM information_schema.columns
    WHERE table_schema = current_schema() ORDER BY line`,
} as const;

class Killed extends Error {}

/** Between two of these, a kill makes a difference. */
const CHANGE = /^\s*(CREATE|ALTER|INSERT|COMMIT)/i;

/** Migrates over connections which send what `before` makes of each statement. */
async function migrateWith(url: string, before: (sql: string) => Promise<string>): Promise<void> {
  const target = parseDatabaseUrl(url);
  const dataSource = await new DataSource(await dataSourceOptions(target, DEFAULT_LIMITS)).initialize();
  const begin = dataSource.createQueryRunner.bind(dataSource);
  const watched = (runner: QueryRunner): QueryRunner => {
    const query = runner.query.bind(runner) as (...given: unknown[]) => Promise<unknown>;
    const watch = async (sql: string, ...rest: unknown[]): Promise<unknown> => query(await before(sql), ...rest);
    return Object.assign(runner, { query: watch });
  };
  dataSource.createQueryRunner = (mode) => watched(begin(mode));
  try {
    await migrate(dataSource, DIALECTS[target.dialect].schema, { firstTag: FIRST_TAG });
  } finally {
    await dataSource.destroy();
  }
}

/**
 * Migrates over connections that die before the change of this number: as with a server that is killed, what is under way
 * is rolled back by the database, and nothing more is said.
 *
 * @returns whether it came to that
 */
async function dieBefore(url: string, fatal: number): Promise<boolean> {
  let left = fatal;
  const die = (sql: string): Promise<string> => {
    if (left > 0 && CHANGE.test(sql)) left--;
    else if (left === 0 && CHANGE.test(sql)) left = -1;
    return left < 0 ? Promise.reject(new Killed()) : Promise.resolve(sql);
  };
  try {
    await migrateWith(url, die);
    return false;
  } catch (error) {
    if (error instanceof Killed) return true;
    throw error;
  }
}

/** Another node has locks of its own. */
function onOtherNode(sql: string): Promise<string> {
  return Promise.resolve(sql.replace('GET_LOCK(?', "GET_LOCK(CONCAT(?, ' of the other node')"));
}

/**
 * Migrates, and before the change of this number a server on another node does so, too.
 *
 * @returns whether it came to that
 */
async function meetBefore(url: string, change: number): Promise<boolean> {
  let left = change;
  const meet = async (sql: string): Promise<string> => {
    if (CHANGE.test(sql) && left-- === 0) await migrateWith(url, onOtherNode);
    return sql;
  };
  await migrateWith(url, meet).catch((error: unknown) => {
    if (!(error instanceof MigrationsLocked)) throw error;
  });
  return left < 0;
}

/** The schema that a start leaves, and an ID. */
async function startOn(url: string): Promise<readonly string[]> {
  const target = parseDatabaseUrl(url);
  const dataSource = await connect(target);
  try {
    const rows = await dataSource.query<{ line: string }[]>(COLUMNS[target.dialect as keyof typeof COLUMNS]);
    await dataSource.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 10)");
    expect(await createSegmentStore(dataSource, FAILOVER).allocate('order', undefined)).toMatchObject({ from: 1n });
    const tags = await dataSource.query<unknown[]>(`SELECT biz_tag FROM leaf_alloc WHERE biz_tag <> 'order'`);
    expect(tags).toHaveLength(1);
    expect(await dataSource.query('SELECT name FROM leaf_migrations')).toHaveLength(migrations.length);
    return rows.map(({ line }) => line);
  } finally {
    await dataSource.destroy();
  }
}

describe.each<[string, () => Promise<Host>]>([
  ['MariaDB', startMariadb],
  ['PostgreSQL', startPostgres],
])('migrations on %s', (_name, start) => {
  let host: Host;
  beforeAll(async () => (host = await start()));
  afterAll(() => host.stop());

  it('that were cut off before any of their statements are brought to their end by the next start', async () => {
    const whole = await startOn(await host.createDatabase());
    expect(whole.length).toBeGreaterThan(15);
    let cuts = 0;
    for (; ; cuts++) {
      const url = await host.createDatabase();
      const cut = await dieBefore(url, cuts);
      expect([cuts, await startOn(url)]).toEqual([cuts, whole]);
      if (!cut) break;
    }
    expect(cuts).toBeGreaterThan(8);
  });
});

// On PostgreSQL all of them are one transaction, on the one node that there is.
describe('migrations on two nodes at once', () => {
  let host: Host;
  beforeAll(async () => (host = await startMariadb()));
  afterAll(() => host.stop());

  it('come to the same schema, whichever statement of one the other ones come before', async () => {
    const whole = await startOn(await host.createDatabase());
    let met = 0;
    for (; ; met++) {
      const url = await host.createDatabase();
      const both = await meetBefore(url, met);
      expect([met, await startOn(url)]).toEqual([met, whole]);
      if (!both) break;
    }
    expect(met).toBeGreaterThan(8);
  });
});
