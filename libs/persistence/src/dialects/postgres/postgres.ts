import { messageOf } from '@leaf-ids/core/internal';
import { passwordReader } from '../../connections/password';
import { holdsExactly } from '../../schema/tables';
import { inTransaction, locked, MIGRATIONS_TABLE } from '../../schema/migrate';
import type { SchemaDialect } from '../../schema/schema-dialect';
import type { Dialect, ServerAddress } from '../shared/dialect';
import { clientAmong, loadPostgres } from './postgres-hosts';
import { PostgresSegmentStore } from './postgres-segment-store';
import { POSTGRES_SESSION, ROLE_SCHEMA } from './postgres-session';
import { SERVER_ADVICE, tlsOptions } from '../shared/server-driver';
import { parseServerUrl } from '../shared/server-url';
import { STANDARD_TAGS, type TagDialect, numbered } from '../../stores/tag-dialect';
import type { WorkerDialect, Written } from '../../stores/worker-row';
import type { DatabaseIdentity, GuardDialect } from '../../failover/failover-guard';
import type { Statement } from '../../connections/sql-database';

/** Key of the lock that serializes changes of the schema. */
const LOCK_NUMBER = 0x1eaf;
/** A pooler rejects settings in the startup packet of a connection. */
const NO_OPTIONS = /^unsupported startup parameter/;

const SCHEMA: SchemaDialect = {
  type: 'postgres',
  columns: `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
  holds: holdsExactly,
  isTransactional: true,
  createMigrationsTable: `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  id serial PRIMARY KEY,
  timestamp bigint NOT NULL,
  name varchar(255) NOT NULL UNIQUE
)`,
  // A transaction-level lock: behind a pooler, the next statement may run in another session.
  alone: (runner, work) =>
    inTransaction(runner, async () => {
      const answer: unknown = await runner.query('SELECT pg_try_advisory_xact_lock($1)::int AS taken', [LOCK_NUMBER]);
      if ((answer as { taken: number }[])[0]?.taken !== 1) throw locked();
      await work();
    }),
  unsafeTables: {
    query: (names) => `SELECT relname AS name, 'UNLOGGED' AS kind FROM pg_class
      WHERE relpersistence <> 'p' AND oid IN (SELECT to_regclass(name) FROM unnest(ARRAY[${names}]) AS name)`,
    remedy: (table) => `ALTER TABLE ${table} SET LOGGED`,
  },
  rights: { denied: ['42501'], user: 'SELECT quote_ident(current_user) AS name' },
};

const EXAMPLE = 'postgres://user:password@host:5432/database';

/** The cluster and its timeline; each promotion starts a new timeline. */
const EXPRESSION = `(SELECT system_identifier FROM pg_control_system())
  || ' timeline ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;

async function askIdentity(statement: Statement): Promise<DatabaseIdentity> {
  const [row] = await statement<{ server: string }[]>(`SELECT ${EXPRESSION} AS server`);
  return { server: row?.server ?? '', expression: EXPRESSION };
}

const POSTGRES_GUARD: GuardDialect = {
  askIdentity,
  insertRecord:
    'INSERT INTO leaf_segment_server (id, server, largest_step) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING',
  lockRecord: 'SELECT server, generation FROM leaf_segment_server WHERE id = 1 FOR UPDATE',
  database: "current_database() || '.' || current_schema()",
};

const POSTGRES_TAGS: TagDialect = {
  ...STANDARD_TAGS,
  text: numbered,
  bytesOf: (text) => `${text} COLLATE "C"`,
  decimal: (value) => `(${value})::text`,
  textOf: (value) => `(${value})::text`,
  updated: "EXTRACT(EPOCH FROM update_time AT TIME ZONE current_setting('TimeZone'))",
  now: 'EXTRACT(EPOCH FROM CURRENT_TIMESTAMP)',
  number: '?::bigint',
  greatest: 'GREATEST',
  least: 'LEAST',
  forUpdate: 'FOR UPDATE',
  rememberDeleted: `INSERT INTO leaf_deleted_tag (biz_tag, max_id, issue_limit) VALUES (?, ?, ?)
    ON CONFLICT (biz_tag) DO UPDATE SET max_id = GREATEST(leaf_deleted_tag.max_id, EXCLUDED.max_id)`,
};

const POSTGRES_WORKERS: WorkerDialect = {
  text: numbered,
  askOrigin: async (access) => (await POSTGRES_GUARD.askIdentity((sql) => access.run(sql, []))).expression,
  isOrigin: (origin) => `(${origin}) = ?`,
  integer: 'CAST(? AS bigint)',
  insert: 'INSERT',
  onConflict: 'ON CONFLICT DO NOTHING',
  write: async (access, { sql, parameters, key }) => {
    // The result of an UPDATE has a different shape than that of an INSERT; a SELECT makes both equal.
    const text = `WITH done AS (${sql} RETURNING ${key} AS written) SELECT written FROM done`;
    const rows = await access.run<Written[]>(numbered(text), [...parameters]);
    return rows.map(({ written }) => written);
  },
  zeroIsNext: false,
  // Two concurrent calls may leave the sequence too low by one: the next INSERT then conflicts, and the one after
  // succeeds.
  raiseNumbering: `SELECT setval(numbers, GREATEST(CAST(? AS bigint), COALESCE(pg_sequence_last_value(numbers), 1)))
    FROM (SELECT CAST(pg_get_serial_sequence('leaf_workerid_alloc', 'id') AS regclass) AS numbers) AS sequence`,
  now: 'EXTRACT(EPOCH FROM clock_timestamp()) * 1000',
};

export const postgres: Dialect<ServerAddress> = {
  schemes: ['postgres', 'postgresql'],
  example: EXAMPLE,
  parse: (url) =>
    parseServerUrl(url, {
      example: EXAMPLE,
      port: 5432,
      severalHosts: true,
      parameters: ['schema', 'target_session_attrs'],
    }),
  driver: {
    options: async (address, common, limits) => {
      const { port, username, database, schema, readWrite } = address;
      const hosts = address.hosts.map((place) => ({ ...place, host: address.socket ?? place.host }));
      const readPassword = await passwordReader(address, limits.connectMs);
      const password = readPassword ?? address.password;
      const isAny = hosts.length === 1 && !readWrite;
      const driver = await loadPostgres();
      const client = isAny ? {} : { Client: clientAmong(driver, hosts, readPassword, limits.connectMs) };
      const options = schema === undefined ? {} : { options: `-c search_path=${searchPath(schema)}` };
      return {
        ...common,
        ...{ host: address.socket ?? address.host, port, username, password, database },
        type: 'postgres',
        driver,
        applicationName: 'leaf',
        connectTimeoutMS: limits.connectMs,
        poolSize: limits.connections,
        ssl: tlsOptions(address) ?? false,
        extra: { query_timeout: limits.queryMs, ...options, ...client },
      };
    },
    lends: ['postgres'],
    shared: (options, own, { connectMs }) => {
      if (options.type !== 'postgres') throw new Error(`${options.type} is not PostgreSQL`);
      return {
        ...options,
        ...own,
        connectTimeoutMS: connectMs,
        applicationName: 'leaf',
        extra: { ...(options.extra as object | undefined), max: own.poolSize },
      };
    },
    createDatabase: (name) => `CREATE DATABASE "${name.replaceAll('"', '""')}"`,
    advice: (error, schema) =>
      schema !== undefined && NO_OPTIONS.test(messageOf(error)) ? ROLE_SCHEMA : SERVER_ADVICE,
  },
  session: POSTGRES_SESSION,
  schema: SCHEMA,
  guard: POSTGRES_GUARD,
  segments: (access, guard) => new PostgresSegmentStore(access, guard, POSTGRES_TAGS),
  tags: POSTGRES_TAGS,
  workers: POSTGRES_WORKERS,
};

/** Quotes the schema as an identifier in a command-line option of PostgreSQL, where a backslash escapes white space. */
function searchPath(schema: string): string {
  return `"${schema.replaceAll('"', '""')}"`.replaceAll(/[\s\\]/g, '\\$&');
}
