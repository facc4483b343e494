import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { moveTagsContract } from '../../support/contract/move-tags.contract';
import { removeDatabaseContract } from '../../support/contract/remove-database.contract';
import {
  failingFile,
  failingMysql,
  failingPostgres,
  type ThreeDatabases,
} from '../../support/contract/three-databases';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

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

removeDatabaseContract('MariaDB', () => threeEngines(['SQLite', 'PostgreSQL', 'MariaDB']));
moveTagsContract('MariaDB', () => threeEngines(['SQLite', 'PostgreSQL', 'MariaDB']));
removeDatabaseContract('PostgreSQL', () => threeEngines(['SQLite', 'MariaDB', 'PostgreSQL']));
moveTagsContract('PostgreSQL', () => threeEngines(['SQLite', 'MariaDB', 'PostgreSQL']));
