import { join } from 'node:path';
import { rm, writeFile } from 'node:fs/promises';
import { MariadbServer } from '../mariadb';
import { copyOfTemplate, guarded, isRoot } from '../private-server';
import { run } from '../services';
import { debianSid } from './debian-sid';

/** Clients connect by TCP, and a new data directory has an account for the socket only. */
const ACCOUNT = `CREATE USER root@'%'; GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;`;

/** MySQL: the protocol of MariaDB, other options. */
export class MysqlServer extends MariadbServer {
  protected override command(): string[] {
    return [
      ...this.program,
      ...this.place,
      '--mysqlx=OFF',
      '--innodb-buffer-pool-size=64M',
      '--innodb-redo-log-capacity=16M',
      '--log-error-verbosity=2',
      ...this.options,
    ];
  }
}

/** `options` are added to the command line of the server. */
export async function startMysql(options: readonly string[] = []): Promise<MysqlServer> {
  const { directory, words } = await mysqlFiles();
  const server = new MysqlServer(directory, await guarded(words), options);
  await server.start();
  return server;
}

/** A new directory with data, and the program with the options that tell it where it is. */
export async function mysqlFiles(): Promise<{ readonly directory: string; readonly words: readonly string[] }> {
  const words = await mysqld();
  const { stdout } = await run(words[0] ?? '', ['--no-defaults', '--version']);
  const version = /Ver (\S+)/.exec(stdout)?.[1] ?? 'unknown';
  const directory = await copyOfTemplate(`mysql-${version}-any`, undefined, (data) => initialize(words, data));
  return { directory, words };
}

async function mysqld(): Promise<string[]> {
  const root = await debianSid();
  const share = join(root, 'usr/share/mysql');
  return [
    join(root, 'usr/sbin/mysqld'),
    '--no-defaults',
    ...(isRoot() ? ['--user=root'] : []),
    `--basedir=${join(root, 'usr')}`,
    `--lc-messages-dir=${share}`,
    `--character-sets-dir=${join(share, 'charsets')}`,
    `--plugin-dir=${join(root, 'usr/lib/mysql/plugin')}`,
    '--secure-file-priv=',
  ];
}

/** Without the UUID: each copy makes one of its own. */
async function initialize([program = '', ...words]: readonly string[], data: string): Promise<void> {
  const account = `${data}.sql`;
  await writeFile(account, ACCOUNT);
  await run(program, [...words, '--initialize-insecure', `--init-file=${account}`, `--datadir=${data}`]);
  await rm(join(data, 'auto.cnf'));
}
