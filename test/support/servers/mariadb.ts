import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Connection, type ConnectionOptions, createConnection, type RowDataPacket } from 'mysql2/promise';
import type { AdminSession, DatabaseServer } from './database-pair';
import { copyOfTemplate, guarded, isRoot, PrivateServer } from './private-server';
import { run } from './services';
import { requireTool } from '../tools';

const CONNECT_LIMIT_MS = 30_000;

export class MariadbServer extends PrivateServer implements DatabaseServer {
  readonly identity = "CONCAT('server_id ', @@global.server_id)";
  /** Where it listens. */
  readonly host: string = '127.0.0.1';
  private readonly persisted = new Map<string, string>();

  constructor(
    directory: string,
    protected readonly program: readonly string[],
    protected readonly options: readonly string[] = [],
  ) {
    super(directory);
  }

  async createDatabase(): Promise<string> {
    const name = `leaf_${randomBytes(6).toString('hex')}`;
    await this.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    return `mysql://root@${this.host}:${this.port}/${name}`;
  }

  async createOwnedDatabase(): Promise<string> {
    const url = new URL(await this.createDatabase());
    url.username = 'leaf';
    await this.query(
      `CREATE USER IF NOT EXISTS leaf@'127.0.0.1'; GRANT ALL ON ${url.pathname.slice(1)}.* TO leaf@'127.0.0.1'`,
    );
    return url.href;
  }

  lockTable(table: string): string[] {
    return [`LOCK TABLES ${table} WRITE`];
  }

  async turnReadOnly(): Promise<void> {
    await this.query('SET GLOBAL read_only = 1');
  }

  async open(database: string): Promise<AdminSession> {
    const connection = await this.connect(database);
    return {
      query: async (sql) => (await connection.query<RowDataPacket[]>(sql))[0],
      close: () => connection.end(),
    };
  }

  /** One statement, or several, over a connection of its own. */
  async query(sql: string): Promise<RowDataPacket[]> {
    const [rows] = await this.connected((connection) => connection.query<RowDataPacket[]>(sql));
    return rows;
  }

  /** Ends all sessions that use a database of Leaf. One that is being closed may be gone when its turn comes. */
  async endSessions(): Promise<void> {
    const sessions = await this.query("SELECT id FROM information_schema.processlist WHERE db LIKE 'leaf%'");
    for (const { id } of sessions) {
      await this.query(`KILL ${id}`).catch((error: unknown) => {
        if ((error as { readonly code?: string }).code !== 'ER_NO_SUCH_THREAD') throw error;
      });
    }
  }

  /** Changes system variables now and for later starts, which would begin with the command line again. */
  async persist(settings: Readonly<Record<string, number>>): Promise<void> {
    const entries = Object.entries(settings);
    await this.query(`SET GLOBAL ${entries.map(([name, value]) => `${name} = ${value}`).join(', ')}`);
    for (const [name, value] of entries) this.persisted.set(name, `--${name.replaceAll('_', '-')}=${value}`);
  }

  /** Whoever commits waits while `act` runs. */
  withoutCommits<T>(act: () => Promise<T>): Promise<T> {
    return this.connected(async (connection) => {
      await connection.query('FLUSH TABLES WITH READ LOCK');
      return act();
    });
  }

  protected get socket(): string {
    return join(this.directory, 'sock');
  }

  /** How the administrator connects. */
  protected get admin(): Pick<ConnectionOptions, 'host' | 'port' | 'socketPath'> {
    return { host: this.host, port: this.port };
  }

  /** Where its files are and where it listens, as MariaDB and MySQL understand it. */
  protected get place(): string[] {
    return [
      `--datadir=${this.dataDirectory}`,
      `--tmpdir=${join(this.directory, 'tmp')}`,
      `--socket=${this.socket}`,
      `--pid-file=${join(this.directory, 'pid')}`,
      `--port=${this.port}`,
      `--bind-address=${this.host}`,
      '--skip-name-resolve',
    ];
  }

  protected override command(): string[] {
    return [
      ...this.program,
      '--no-defaults',
      ...(isRoot() ? ['--user=root'] : []),
      ...this.place,
      '--innodb-buffer-pool-size=64M',
      '--innodb-log-file-size=16M',
      '--innodb-buffer-pool-dump-at-shutdown=OFF',
      '--innodb-buffer-pool-load-at-startup=OFF',
      '--performance-schema=OFF',
      ...this.options,
      ...this.persisted.values(),
    ];
  }

  protected override async askDataDirectory(): Promise<string> {
    const rows = await this.query('SELECT @@datadir AS path');
    return String(rows[0]?.path);
  }

  private async connected<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.connect();
    try {
      return await act(connection);
    } finally {
      connection.destroy();
    }
  }

  private async connect(database?: string): Promise<Connection> {
    const connection = await createConnection({
      ...this.admin,
      user: 'root',
      ...(database === undefined ? {} : { database }),
      connectTimeout: CONNECT_LIMIT_MS,
      multipleStatements: true,
    });
    // Without a listener, a connection that breaks ends this process.
    connection.on('error', () => undefined);
    return connection;
  }
}

/** `options` are added to the command line of the server. */
export async function startMariadb(options: readonly string[] = []): Promise<MariadbServer> {
  const { directory, program } = await mariadbTemplate();
  const server = new MariadbServer(directory, await guarded([program]), options);
  await server.start();
  return server;
}

/** A new directory with data that belongs to `account`, and the server that runs on it. */
export async function mariadbTemplate(
  account?: string,
): Promise<{ readonly directory: string; readonly program: string }> {
  const program = await requireTool('mariadbd');
  const install = await requireTool('mariadb-install-db');
  const { stdout } = await run(program, ['--no-defaults', '--version']);
  const version = /Ver (\S+)/.exec(stdout)?.[1] ?? 'unknown';
  const name = ['mariadb', version.replaceAll(/[^\w.]/g, '-'), ...(account === undefined ? [] : [account])].join('-');
  const directory = await copyOfTemplate(name, account, async (data) => {
    const options = ['--auth-root-authentication-method=normal', '--skip-test-db', '--innodb-log-file-size=16M'];
    const user = isRoot() && account === undefined ? ['--user=root'] : [];
    const [command = '', ...words] = await guarded(
      [install, '--no-defaults', ...user, `--datadir=${data}`, ...options],
      account,
    );
    await run(command, words);
  });
  return { directory, program };
}
