import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { freePort, type Sandbox, untilReady } from './http/sandbox';

/** A private server of a database or of worker IDs, with an empty data folder. The sandbox ends it. */
export type StartService = (sandbox: Sandbox) => Promise<string>;

const POSTGRES_VERSIONS = '/usr/lib/postgresql';
const JARS = ['/usr/share/java/zookeeper.jar', '/usr/share/java/slf4j-simple.jar'];

/** Debian does not have the database servers on the path of every user. */
function searchPath(): string {
  const versions = existsSync(POSTGRES_VERSIONS) ? readdirSync(POSTGRES_VERSIONS) : [];
  const folders = versions.map((version) => join(POSTGRES_VERSIONS, version, 'bin'));
  return [process.env.PATH, '/usr/sbin', ...folders].join(delimiter);
}

const env = { ...process.env, PATH: searchPath(), LC_ALL: 'C' };

function run(command: readonly string[]): string {
  const [program = '', ...words] = command;
  const { status, stdout, stderr, error } = spawnSync(program, words, { env, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${command.join(' ')} failed; "npm run test:setup" installs it.\n${error?.message ?? stderr}`);
}

/** @returns the URL of an empty database */
export const startMariadb: StartService = async (sandbox) => {
  const [folder, port] = [sandbox.folder(), await freePort()];
  const data = join(folder, 'data');
  const options = ['--no-defaults', `--datadir=${data}`, ...(process.getuid?.() === 0 ? ['--user=root'] : [])];
  run(['mariadb-install-db', ...options, '--auth-root-authentication-method=normal', '--skip-test-db']);
  const place = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(folder, 'sock')}`];
  sandbox.spawn(['mariadbd', ...options, ...place], { stdio: 'ignore', env });
  await untilReady('mariadbd', async () => {
    const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
    await connection.query('CREATE DATABASE leaf CHARACTER SET utf8mb4');
    connection.destroy();
  });
  return `mysql://root@127.0.0.1:${port}/leaf`;
};

/** @returns the URL of an empty database */
export const startPostgres: StartService = async (sandbox) => {
  const [folder, port] = [sandbox.folder(), await freePort()];
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
  if (account.length > 0) chownSync(folder, Number(run(['id', '-u', 'postgres'])), -1);
  const data = join(folder, 'data');
  run([...account, 'initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C']);
  const options = ['-c', 'unix_socket_directories=', '-c', 'max_connections=300'];
  const command = [...account, 'postgres', '-D', data, '-p', String(port), ...options];
  sandbox.spawn(command, { stdio: 'ignore', env }, 'SIGQUIT');
  await untilReady('postgres', async () => {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    await client.connect();
    await client.query('CREATE DATABASE leaf');
    await client.end();
  });
  return `postgres://postgres@127.0.0.1:${port}/leaf`;
};

/** @returns host, port and root path */
export const startZookeeper: StartService = async (sandbox) => {
  const [folder, port] = [sandbox.folder(), await freePort()];
  const data = join(folder, 'data');
  mkdirSync(data);
  const file = join(folder, 'zoo.cfg');
  const place = [`clientPort=${port}`, 'clientPortAddress=127.0.0.1', `dataDir=${data}`];
  writeFileSync(file, [...place, 'tickTime=500', 'admin.enableServer=false', 'maxClientCnxns=0'].join('\n'));
  const java = ['java', '-Xmx128m', '-XX:+UseSerialGC', '-cp', JARS.join(delimiter)];
  sandbox.spawn([...java, 'org.apache.zookeeper.server.ZooKeeperServerMain', file], { stdio: 'ignore', env });
  await untilReady('ZooKeeper', () => reach(port));
  return `127.0.0.1:${port}/leaf`;
};

/** What the servers under test store their segments and worker IDs in. */
export interface SetUp {
  readonly name: string;
  /** Whether it is the one that the targets are for. */
  readonly production: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** MariaDB and ZooKeeper; the defaults of the server if they are not installed. */
export async function startSetUp(sandbox: Sandbox): Promise<SetUp> {
  const isInstalled = (program: string): boolean => spawnSync('which', [program], { env }).status === 0;
  if (!['mariadbd', 'java'].every(isInstalled) || !existsSync(JARS[0]!)) {
    console.error('MariaDB, Java or ZooKeeper is missing; "npm run test:setup" installs them.');
    return { name: 'SQLite and registry local, to which the targets do not apply', production: false, env: {} };
  }
  const [database, zookeeper] = await Promise.all([startMariadb(sandbox), startZookeeper(sandbox)]);
  // The package is compiled for one version of Node.js, and --node runs another.
  const registry = spawnSync(process.execPath, ['-e', 'require("zookeeper")']).status === 0 ? 'zk_recycle' : 'database';
  const of = registry === 'database' ? {} : { LEAF_ZOOKEEPER: zookeeper };
  const settings = { LEAF_DATABASE_URL: database, LEAF_SNOWFLAKE_REGISTRY: registry, ...of };
  return { name: `MariaDB and registry ${registry}`, production: true, env: settings };
}

/** Connects once; rejects if nothing listens. */
export function reach(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}
