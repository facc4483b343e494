import { createTagStore, type LeafDataSource, parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import type { PrivateServer } from '../../support/servers/private-server';
import { until } from '../../support/until';

interface Case {
  readonly database: string;
  readonly start: () => Promise<PrivateServer & { createDatabase(): Promise<string> }>;
  /** Counts the statements that wait for a lock. */
  readonly waiting: string;
}

describe.each<Case>([
  {
    database: 'MariaDB',
    start: startMariadb,
    waiting: `SELECT variable_value AS waiting FROM information_schema.global_status
      WHERE variable_name = 'Innodb_row_lock_current_waits'`,
  },
  {
    database: 'PostgreSQL',
    start: startPostgres,
    waiting: "SELECT COUNT(*) AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
  },
])('a tag that is created while another server deletes it, on $database', ({ start, waiting }) => {
  let server: PrivateServer & { createDatabase(): Promise<string> };
  let creator: LeafDataSource;
  let deleter: LeafDataSource;

  beforeAll(async () => (server = await start()));
  afterAll(() => server.stop());
  beforeEach(async () => {
    const target = parseDatabaseUrl(await server.createDatabase());
    [creator, deleter] = [await connect(target), await connect(target)];
  });
  afterEach(async () => {
    await creator.destroy();
    await deleter.destroy();
  });

  /** Begins `create` while the deletion of tag x, which has given IDs up to 500, is not committed yet. */
  async function duringDeletion<Result>(create: () => Promise<Result>): Promise<Result> {
    await deleter.query("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('x', 501, 10)");
    const runner = deleter.createQueryRunner();
    await runner.startTransaction();
    await runner.query("INSERT INTO leaf_deleted_tag (biz_tag, max_id) VALUES ('x', 501)");
    await runner.query("DELETE FROM leaf_alloc WHERE biz_tag = 'x'");
    const created = create();
    created.catch(() => undefined);
    await until('the wait for the deletion', async () => {
      const [row] = await deleter.query<{ waiting: number | string }[]>(waiting);
      return Number(row?.waiting) > 0;
    });
    await runner.commitTransaction();
    await runner.release();
    return created;
  }

  it('begins where the deleted one had come to', async () => {
    const tags = createTagStore(creator);
    expect(await duringDeletion(() => tags.create({ tag: 'x', step: 10 }))).toMatchObject({ maxId: 501n });
    expect(await tags.find('x')).toMatchObject({ maxId: 501n });
  });

  it('is refused when it is to begin below, or to be strict', async () => {
    const tags = createTagStore(creator);
    const below = duringDeletion(() => tags.create({ tag: 'x', step: 10, maxId: 500n }));
    await expect(below).rejects.toMatchObject({ code: 'LEAF_MAX_ID_BACKWARDS' });
    expect(await tags.find('x')).toBeUndefined();
    const strict = tags.create({ tag: 'x', step: 10, order: 'strict' });
    await expect(strict).rejects.toMatchObject({ code: 'LEAF_TAG_EXISTS' });
    expect(await tags.find('x')).toBeUndefined();
  });
});
