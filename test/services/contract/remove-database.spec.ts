import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import type { QueryRunner } from 'typeorm';
import { moveTagsContract } from '../../support/contract/move-tags.contract';
import { removeDatabaseContract } from '../../support/contract/remove-database.contract';
import {
  failingFile,
  failingMysql,
  failingPostgres,
  tagOf,
  type ThreeDatabases,
  ThreeDatabasesRig,
} from '../../support/contract/three-databases';
import { connect } from '../../support/contract/sql-stores';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';
import { until } from '../../support/until';

let mariadb: MariadbServer;
let postgres: PostgresServer;
beforeAll(async () => ([mariadb, postgres] = await Promise.all([startMariadb(), startPostgres()])));
afterAll(() => Promise.all([mariadb.stop(), postgres.stop()]));

type Engine = 'MariaDB' | 'PostgreSQL' | 'SQLite';

/** Databases of the three engines, `c` of the last one of `order`. */
async function threeEngines([a, b, c]: readonly [Engine, Engine, Engine]): Promise<ThreeDatabases> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-remove-'));
  const urls = {
    MariaDB: await mariadb.createDatabase(),
    PostgreSQL: await postgres.createDatabase(),
    SQLite: `sqlite:${join(directory, 'file')}.sqlite`,
  };
  const failing = { MariaDB: failingMysql, PostgreSQL: failingPostgres, SQLite: failingFile };
  return {
    urls: { a: urls[a], b: urls[b], c: urls[c] },
    failing: (database, event) => failing[{ a, b, c }[database]](event),
    cleanUp: () => rm(directory, { recursive: true }),
  };
}

describe('a MariaDB database that is taken out of the list', () => {
  const rig = new ThreeDatabasesRig(() => threeEngines(['SQLite', 'PostgreSQL', 'MariaDB']));
  const number = async (sql: string): Promise<number> => {
    // Of the whole server, and quickly: the removal waits for a row for a second.
    const [row] = await mariadb.query(sql);
    return Number(row!.number);
  };
  const deadlocks = (): Promise<number> =>
    number("SELECT count AS number FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'");
  const waiting = (transactions: number): Promise<true> => {
    const sql = `SELECT variable_value AS number FROM information_schema.global_status
      WHERE variable_name = 'Innodb_row_lock_current_waits'`;
    return until(`${transactions} that wait`, async () => (await number(sql)) >= transactions);
  };

  it('locks in the order in which an allocation does: the two do not end each other', async () => {
    const [first, last] = ['first', 'last'].map((prefix) => tagOf('a', prefix)) as [string, string];
    const { tags, segments } = await rig.startServer();
    for (const tag of [first, last]) {
      await tags.create({ tag, step: 5 });
      await segments.allocate(tag, 5);
    }
    const before = await deadlocks();
    const begin = async (): Promise<QueryRunner> => {
      const connection = await connect(parseDatabaseUrl(rig.urls.c));
      rig.closeLater(() => connection.destroy());
      const runner = connection.createQueryRunner();
      await runner.startTransaction();
      return runner;
    };
    const allocate = (tag: string): string => `UPDATE leaf_alloc SET max_id = max_id + 5 WHERE biz_tag = '${tag}'`;

    const [earlier, later] = [await begin(), await begin()];
    await earlier.query(allocate(last));
    const removed = rig.remove();
    await waiting(1);
    // The condition on the record of the server is read before the row.
    const allocated = later
      .query('SELECT 1 FROM leaf_segment_server WHERE id = 1 LOCK IN SHARE MODE')
      .then(() => later.query(allocate(first)))
      .then(() => later.commitTransaction());
    allocated.catch(() => undefined);
    await waiting(2);
    await earlier.commitTransaction();
    expect((await removed).tags).toMatchObject([first, last].sort().map((tag) => ({ tag, rows: 1 })));
    await allocated;
    await Promise.all([earlier.release(), later.release()]);
    expect(await deadlocks()).toBe(before);
  });
});

removeDatabaseContract('MariaDB', () => threeEngines(['SQLite', 'PostgreSQL', 'MariaDB']));
moveTagsContract('MariaDB', () => threeEngines(['SQLite', 'PostgreSQL', 'MariaDB']));
removeDatabaseContract('PostgreSQL', () => threeEngines(['SQLite', 'MariaDB', 'PostgreSQL']));
moveTagsContract('PostgreSQL', () => threeEngines(['SQLite', 'MariaDB', 'PostgreSQL']));
