import { migrations } from '@leaf/migrations';
import { DataSource, type QueryRunner } from 'typeorm';
import { createSegmentStore, FIRST_TAG, parseDatabaseUrl } from '@leaf/persistence';
import { dataSourceOptions, DEFAULT_LIMITS } from '../../libs/persistence/src/data-source-options';
import { migrate } from '../../libs/persistence/src/migrate';
import { connect, FAILOVER } from '../contract/sql-stores';
import { startMariadb } from '../support/mariadb';
import { startPostgres } from '../support/postgres';

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

/**
 * Migrates over connections that die before the change of this number: as with a server that is killed, what is under way
 * is rolled back by the database, and nothing more is said.
 *
 * @returns whether it came to that
 */
async function dieBefore(url: string, fatal: number): Promise<boolean> {
  const target = parseDatabaseUrl(url);
  const dataSource = await new DataSource(await dataSourceOptions(target, DEFAULT_LIMITS)).initialize();
  const begin = dataSource.createQueryRunner.bind(dataSource);
  let left = fatal;
  const dying = (runner: QueryRunner): QueryRunner => {
    const query = runner.query.bind(runner) as (...given: unknown[]) => Promise<unknown>;
    const die = (sql: string, ...rest: unknown[]): Promise<unknown> => {
      if (left > 0 && CHANGE.test(sql)) left--;
      else if (left === 0 && CHANGE.test(sql)) left = -1;
      return left < 0 ? Promise.reject(new Killed()) : query(sql, ...rest);
    };
    return Object.assign(runner, { query: die });
  };
  dataSource.createQueryRunner = (mode) => dying(begin(mode));
  try {
    await migrate(dataSource, target, { firstTag: FIRST_TAG });
    return false;
  } catch (error) {
    if (error instanceof Killed) return true;
    throw error;
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

  /** The schema that a start leaves, and an ID. */
  async function startOn(url: string): Promise<readonly string[]> {
    const target = parseDatabaseUrl(url);
    const dataSource = await connect(target);
    try {
      const rows = await dataSource.query<{ line: string }[]>(COLUMNS[target.dialect as keyof typeof COLUMNS]);
      await dataSource.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 10)");
      expect(await createSegmentStore(dataSource, FAILOVER).allocate('order', undefined)).toMatchObject({ from: 1n });
      const tags = await dataSource.query<unknown[]>(`SELECT biz_tag FROM leaf_alloc WHERE biz_tag <> 'order'`);
      expect(tags.length).toBeLessThanOrEqual(1);
      expect(await dataSource.query('SELECT name FROM leaf_migrations')).toHaveLength(migrations.length);
      return rows.map(({ line }) => line);
    } finally {
      await dataSource.destroy();
    }
  }

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
