import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client, type QueryResult } from 'pg';
import { ACCOUNT, type PostgresServer } from '../postgres';
import { guarded, PrivateServer, serverDirectory } from '../private-server';
import { run } from '../services';
import { debianSid } from './debian-sid';

/** Fewer than the connections of the servers: each transaction gets another one. */
const POOL_SIZE = 4;

/** PgBouncer in transaction mode, in front of one PostgreSQL server at a time. */
export class PgBouncer extends PrivateServer {
  constructor(
    directory: string,
    private readonly program: readonly string[],
    private target: PostgresServer,
  ) {
    super(directory);
  }

  get version(): Promise<string> {
    return this.ask('SHOW VERSION').then(({ rows }) => (rows[0] as { version: string }).version);
  }

  async createDatabase(): Promise<string> {
    return (await this.target.createDatabase()).replace(`:${this.target.port}/`, `:${this.port}/`);
  }

  /** From now on to `target`. */
  async retarget(target: PostgresServer): Promise<void> {
    this.target = target;
    await this.configure();
    await this.ask('RELOAD');
  }

  protected override async configure(): Promise<void> {
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: this.port,
      unix_socket_dir: '',
      auth_type: 'trust',
      auth_file: join(this.dataDirectory, 'users'),
      admin_users: ACCOUNT,
      pool_mode: 'transaction',
      default_pool_size: POOL_SIZE,
      max_client_conn: 500,
      server_login_retry: 1,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const database = `* = host=127.0.0.1 port=${this.target.port} user=${ACCOUNT}`;
    await writeFile(settings.auth_file, `"${ACCOUNT}" ""\n`);
    await writeFile(this.file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'));
  }

  protected override command(): string[] {
    return [...this.program, this.file];
  }

  protected override async askDataDirectory(): Promise<string> {
    const { rows } = await this.ask('SHOW CONFIG');
    const settings = rows as { key: string; value: string }[];
    return dirname(settings.find(({ key }) => key === 'conffile')?.value ?? '');
  }

  private get file(): string {
    return join(this.dataDirectory, 'pgbouncer.ini');
  }

  private async ask(command: string): Promise<QueryResult> {
    const client = new Client({ host: '127.0.0.1', port: this.port, user: ACCOUNT, database: 'pgbouncer' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await client.query(command);
    } finally {
      await client.end();
    }
  }
}

/** It refuses to run as root, like PostgreSQL. */
export async function startPgBouncer(target: PostgresServer): Promise<PgBouncer> {
  const program = join(await debianSid(), 'usr/sbin/pgbouncer');
  const directory = await serverDirectory(ACCOUNT, (data) => run('mkdir', [data]));
  const server = new PgBouncer(directory, await guarded([program], ACCOUNT), target);
  await server.start();
  return server;
}
