import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ACCOUNT, connectPostgres } from './postgres';
import { guarded, PrivateServer, serverDirectory } from './private-server';
import { requireTool } from '../tools';

/**
 * Server connections of one database and user: fewer than the clients have, so that they share them. Whoever
 * holds one in a transaction for long must not bring the others to a stop.
 */
const POOL_SIZE = 12;

/** PgBouncer in transaction mode: each transaction of a client may run on another connection to the server. */
export class PgbouncerServer extends PrivateServer {
  constructor(
    directory: string,
    private readonly program: readonly string[],
    private readonly targetPort: number,
    private readonly ignored: readonly string[],
  ) {
    super(directory);
  }

  /** At the server behind it; the URL leads through it. */
  async createDatabase(): Promise<string> {
    const name = `leaf_${randomBytes(6).toString('hex')}`;
    await this.query('postgres', `CREATE DATABASE ${name}`);
    return `postgres://postgres@127.0.0.1:${this.port}/${name}`;
  }

  /** Closes each connection to the server as soon as its transaction is over, as after a switch-over. */
  async reconnect(): Promise<void> {
    await this.query('pgbouncer', 'RECONNECT');
  }

  protected override command(): string[] {
    return [...this.program, this.file('pgbouncer.ini')];
  }

  protected override async configure(): Promise<void> {
    const lines = [
      '[databases]',
      `* = host=127.0.0.1 port=${this.targetPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${this.port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${this.file('users')}`,
      'admin_users = postgres',
      'pool_mode = transaction',
      `default_pool_size = ${POOL_SIZE}`,
      'max_client_conn = 500',
      // Each test has a database of its own: those of earlier ones may not use up the server's connections.
      'server_idle_timeout = 2',
      // The default is to refuse clients for 15 s after one failure to connect.
      'server_login_retry = 0.2',
      `ignore_startup_parameters = ${['extra_float_digits', 'statement_timeout', ...this.ignored].join(', ')}`,
    ];
    await writeFile(this.file('users'), '"postgres" ""\n"leaf" ""\n');
    await writeFile(this.file('pgbouncer.ini'), lines.join('\n'));
  }

  protected override async askDataDirectory(): Promise<string> {
    const rows = await this.query('pgbouncer', 'SHOW CONFIG');
    return dirname(String(rows.find(({ key }) => key === 'auth_file')?.value));
  }

  private file(name: string): string {
    return join(this.dataDirectory, name);
  }

  private async query(database: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = await connectPostgres(this.port, database);
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  }
}

/**
 * In front of the PostgreSQL server, or the proxy, at a port of this machine.
 *
 * @param ignored parameters at the start of a connection that it takes and forgets; it refuses others
 */
export async function startPgbouncer(targetPort: number, ignored: readonly string[] = []): Promise<PgbouncerServer> {
  const pgbouncer = await requireTool('pgbouncer');
  const directory = await serverDirectory(ACCOUNT, (data) => mkdir(data));
  const server = new PgbouncerServer(directory, await guarded([pgbouncer], ACCOUNT), targetPort, ignored);
  await server.start();
  return server;
}
