import { createClient } from '@libsql/client';
import type { MySql2Database } from 'drizzle-orm/mysql2';
import { drizzle as drizzleLibsql } from 'drizzle-orm/libsql';
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { database } from './harness.js';

const { kind, url } = database;

function connect(): unknown {
  if (kind === 'sqlite') return drizzleLibsql({ client: createClient({ url: `file:${url}`, intMode: 'bigint' }) });
  if (kind === 'postgres') return drizzlePostgres({ client: new Pool({ connectionString: url }) });
  return drizzleMysql({ client: createPool({ uri: url, supportBigNumbers: true }) });
}

/** Typed as that of one engine: what the tests call exists in all. */
export const db = connect() as MySql2Database;
