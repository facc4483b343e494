import { randomBytes } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client, type QueryResult } from 'pg';
import type { AdminSession, DatabaseServer } from './database-pair';
import { copyOfTemplate, guarded, PrivateServer, serverDirectory } from './private-server';
import { run } from './services';
import { requireTool } from '../tools';

const CONNECT_LIMIT_MS = 30_000;

/** PostgreSQL and PgBouncer refuse to run as root. */
export const ACCOUNT = 'postgres';

export class PostgresServer extends PrivateServer implements DatabaseServer {
  readonly identity = `(SELECT system_identifier FROM pg_control_system())
    || ' timeline ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;

  /** @param programs the folder of `postgres`, `initdb` and the others */
  constructor(
    directory: string,
    readonly programs: string,
    private readonly program: readonly string[],
  ) {
    super(directory);
  }

  async createDatabase(): Promise<string> {
    const name = `leaf_${randomBytes(6).toString('hex')}`;
    await this.query(`CREATE DATABASE ${name}`);
    return `postgres://postgres@127.0.0.1:${this.port}/${name}`;
  }

  async createOwnedDatabase(): Promise<string> {
    const url = new URL(await this.createDatabase());
    url.username = 'leaf';
    const { rows } = await this.query("SELECT 1 FROM pg_roles WHERE rolname = 'leaf'");
    if (rows.length === 0) await this.query('CREATE ROLE leaf LOGIN');
    await this.query(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO leaf`);
    return url.href;
  }

  lockTable(table: string): string[] {
    return ['BEGIN', `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`];
  }

  async turnReadOnly(): Promise<void> {
    await this.query('ALTER SYSTEM SET default_transaction_read_only = on');
    await this.query('SELECT pg_reload_conf()');
  }

  async open(database: string): Promise<AdminSession> {
    const client = await connectPostgres(this.port, database);
    return {
      query: async (sql) => (await client.query(sql)).rows as Record<string, unknown>[],
      close: () => client.end(),
    };
  }

  protected override command(): string[] {
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      shared_buffers: '16MB',
      max_connections: '300',
      // A standby comes back at once to a primary that was away; the default is 5 s.
      wal_retrieve_retry_interval: '100ms',
      // In the data directory, which is removed, and not in /dev/shm.
      dynamic_shared_memory_type: 'mmap',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    return [...this.program, '-D', this.dataDirectory, '-p', String(this.port), ...options];
  }

  protected override async askDataDirectory(): Promise<string> {
    const { rows } = await this.query('SHOW data_directory');
    return String((rows[0] as { data_directory: string } | undefined)?.data_directory);
  }

  /** A killed server leaves a small segment of System V memory, of which a machine has 4096. Line 7 names it. */
  protected override async cleanUp(): Promise<void> {
    const text = await readFile(join(this.dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
    const segment = /^\s*\d+\s+(\d+)\s*$/.exec(text.split('\n')[6] ?? '')?.[1];
    if (segment !== undefined) await run('ipcrm', ['-m', segment]).catch(() => undefined);
  }

  /** One statement over a connection of its own. */
  async query(sql: string): Promise<QueryResult> {
    const client = await connectPostgres(this.port, 'postgres');
    try {
      return await client.query(sql);
    } finally {
      await client.end();
    }
  }
}

/** As the administrator. */
export async function connectPostgres(port: number, database: string): Promise<Client> {
  const options = { host: '127.0.0.1', user: 'postgres', connectionTimeoutMillis: CONNECT_LIMIT_MS };
  const client = new Client({ ...options, port, database });
  // Without a listener, a connection that breaks ends this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** @param programs left out: those of the system */
export async function startPostgres(programs?: string): Promise<PostgresServer> {
  const folder = programs ?? (await systemPrograms());
  const { stdout } = await run(join(folder, 'postgres'), ['--version']);
  const version = /\d[\w.]*/.exec(stdout)?.[0] ?? 'unknown';
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const directory = await copyOfTemplate(`postgres-${version}`, ACCOUNT, (data) =>
    runAsAccount([join(folder, 'initdb'), '-D', data, ...options], data),
  );
  return started(directory, folder);
}

/** A standby that streams from `primary`, of which it is a copy. */
export async function startStandby({ port, programs }: PostgresServer): Promise<PostgresServer> {
  const source = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
  const options = ['--write-recovery-conf', '--wal-method=stream', '--checkpoint=fast', '--no-sync'];
  const copy = (data: string): Promise<void> =>
    runAsAccount([join(programs, 'pg_basebackup'), '-D', data, ...source, ...options], data);
  return started(await serverDirectory(ACCOUNT, copy), programs);
}

async function started(directory: string, programs: string): Promise<PostgresServer> {
  const server = new PostgresServer(directory, programs, await guarded([join(programs, 'postgres')], ACCOUNT));
  await server.start();
  return server;
}

/** All of one installation, with which its account comes: `initdb` tells which. */
export async function systemPrograms(): Promise<string> {
  const found = await requireTool('initdb');
  return dirname(await realpath(found));
}

async function runAsAccount(words: readonly string[], data: string): Promise<void> {
  const [program = '', ...rest] = await guarded(words, ACCOUNT);
  await run(program, rest, { cwd: dirname(data) });
}
