import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { copyOfTemplate, guarded, isRoot, PrivateServer } from './private-server';
import { requireBinary, run } from './services';

/** The core package alone lacks my_print_defaults, which mariadb-install-db needs. */
const PACKAGE = 'mariadb-server';
const CONNECT_LIMIT_MS = 30_000;

export class MariadbServer extends PrivateServer {
  constructor(
    directory: string,
    private readonly program: readonly string[],
    private readonly options: readonly string[] = [],
  ) {
    super(directory);
  }

  async createDatabase(): Promise<string> {
    const name = `leaf_${randomBytes(6).toString('hex')}`;
    await this.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    return `mysql://root@127.0.0.1:${this.port}/${name}`;
  }

  /** One statement, or several, over a connection of its own. */
  async query(sql: string): Promise<RowDataPacket[]> {
    const [rows] = await this.connected((connection) => connection.query<RowDataPacket[]>(sql));
    return rows;
  }

  /** Whoever commits waits while `act` runs. */
  withoutCommits<T>(act: () => Promise<T>): Promise<T> {
    return this.connected(async (connection) => {
      await connection.query('FLUSH TABLES WITH READ LOCK');
      return act();
    });
  }

  protected override command(): string[] {
    return [
      ...this.program,
      '--no-defaults',
      ...(isRoot() ? ['--user=root'] : []),
      `--datadir=${this.dataDirectory}`,
      `--tmpdir=${join(this.directory, 'tmp')}`,
      `--socket=${join(this.directory, 'sock')}`,
      `--pid-file=${join(this.directory, 'pid')}`,
      `--port=${this.port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--innodb-buffer-pool-size=64M',
      '--innodb-log-file-size=16M',
      '--innodb-buffer-pool-dump-at-shutdown=OFF',
      '--innodb-buffer-pool-load-at-startup=OFF',
      '--performance-schema=OFF',
      ...this.options,
    ];
  }

  protected override async askDataDirectory(): Promise<string> {
    const rows = await this.query('SELECT @@datadir AS path');
    return String(rows[0]?.path);
  }

  private async connected<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await createConnection({
      host: '127.0.0.1',
      port: this.port,
      user: 'root',
      connectTimeout: CONNECT_LIMIT_MS,
      multipleStatements: true,
    });
    try {
      return await act(connection);
    } finally {
      connection.destroy();
    }
  }
}

/** `options` are added to the command line of the server. */
export async function startMariadb(options: readonly string[] = []): Promise<MariadbServer> {
  const mariadbd = await requireBinary('mariadbd', ['/usr/sbin', '/usr/local/sbin'], PACKAGE);
  const install = await requireBinary('mariadb-install-db', ['/usr/bin', '/usr/local/bin'], PACKAGE);
  const { stdout } = await run(mariadbd, ['--no-defaults', '--version']);
  const version = /Ver (\S+)/.exec(stdout)?.[1] ?? 'unknown';
  const directory = await copyOfTemplate(`mariadb-${version.replaceAll(/[^\w.]/g, '-')}`, undefined, (data) =>
    run(install, [
      '--no-defaults',
      ...(isRoot() ? ['--user=root'] : []),
      `--datadir=${data}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--innodb-log-file-size=16M',
    ]),
  );
  const server = new MariadbServer(directory, await guarded([mariadbd]), options);
  await server.start();
  return server;
}
