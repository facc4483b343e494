import Libsql from 'libsql';
import { type Dialect, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely';
import { createPool } from 'mysql2';
import { Pool } from 'pg';
import { database } from './harness.js';

const { kind, url } = database;

function connect(): Dialect {
  if (kind === 'sqlite') return new SqliteDialect({ database: new Libsql(url).defaultSafeIntegers(true) as never });
  if (kind === 'postgres') return new PostgresDialect({ pool: new Pool({ connectionString: url }) });
  return new MysqlDialect({ pool: createPool({ uri: url, supportBigNumbers: true, bigNumberStrings: true }) as never });
}

export const dialect = connect();
