import Libsql from 'libsql';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { type MariadbServer, startMariadb } from './mariadb';
import { type PostgresServer, startPostgres } from './postgres';

/** `MariaDB returning`: by TypeORM's own driver, which lets an INSERT return columns. */
export const SERVERS = ['MariaDB', 'MariaDB returning', 'PostgreSQL'] as const;
export const FILES = ['SQLite', 'SQLite exact'] as const;
export type OrmDatabase = (typeof SERVERS | typeof FILES)[number];

type Entity = Extract<EntityTarget<ObjectLiteral>, new (...args: never[]) => unknown>;

/** The databases that TypeORM's entities are tried on, each time an empty one. */
export class OrmDatabases {
  private mariadb: MariadbServer | undefined;
  private postgres: PostgresServer | undefined;

  /** Starts the servers that these databases need. */
  static async start(names: readonly OrmDatabase[]): Promise<OrmDatabases> {
    const databases = new OrmDatabases();
    if (names.some((name) => name.startsWith('MariaDB'))) databases.mariadb = await startMariadb();
    if (names.includes('PostgreSQL')) databases.postgres = await startPostgres();
    return databases;
  }

  async stop(): Promise<void> {
    await Promise.all([this.mariadb?.stop(), this.postgres?.stop()]);
  }

  /** Not initialized yet. */
  async create(database: OrmDatabase, entities: Entity[]): Promise<DataSource> {
    const common = { entities, synchronize: true };
    switch (database) {
      case 'MariaDB':
        return new DataSource({ ...common, type: 'mysql', url: await this.mariadb!.createDatabase() });
      case 'MariaDB returning':
        return new DataSource({ ...common, type: 'mariadb', url: await this.mariadb!.createDatabase() });
      case 'PostgreSQL':
        return new DataSource({ ...common, type: 'postgres', url: await this.postgres!.createDatabase() });
      case 'SQLite':
        return new DataSource({ ...common, ...SQLITE });
      case 'SQLite exact':
        return new DataSource({ ...common, ...SQLITE, prepareDatabase: readExactly });
    }
  }

  async open(database: OrmDatabase, entities: Entity[]): Promise<DataSource> {
    return (await this.create(database, entities)).initialize();
  }
}

const SQLITE = { type: 'better-sqlite3', driver: openLibsql, database: ':memory:' } as const;

/** An SQLite file, which other connections can open. */
export function openSqliteFile(database: string, entities: Entity[]): Promise<DataSource> {
  return new DataSource({ ...SQLITE, database, entities, synchronize: true }).initialize();
}

/** TypeORM before 0.3.21 calls the driver without `new`. */
function openLibsql(path: string, options: Libsql.Options): Libsql.Database {
  return new Libsql(path, options);
}

function readExactly(database: Libsql.Database): void {
  database.defaultSafeIntegers(true);
}
