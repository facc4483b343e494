import { existsSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { loadSqlite } from '@leaf-ids/persistence';
import { openSession } from '../support/contract/zk-stores';
import { type EtcdServer, startEtcd } from '../support/servers/etcd';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { connectPostgres, type PostgresServer, startPostgres } from '../support/servers/postgres';
import { startZookeeper } from '../support/servers/zookeeper';
import { requireZookeeperClient } from '../support/servers/zookeeper-client';
import { requireTool } from '../support/tools';

const run = promisify(execFile);

/** Data of a server outside of its data directory. */
export interface FixturePlace {
  /** Settings of a server that uses it. */
  readonly env: NodeJS.ProcessEnv;
  /** Writes the data to `folder` as text. */
  save(folder: string): Promise<void>;
  /** Puts the data of `folder` into an empty place. */
  load(folder: string): Promise<void>;
  stop(): Promise<unknown>;
}

export interface FixtureCase {
  readonly name: string;
  /** Settings beside those of the place. */
  readonly env: NodeJS.ProcessEnv;
  readonly hasTags: boolean;
  /** A worker ID stays with its `ip:port`. */
  readonly keepsWorker: boolean;
  readonly open: () => Promise<FixturePlace>;
}

/** Longer than a start takes, so that one which does not wait for the reserved time is noticed. By its oldest name. */
const LONG_LEASE = { LEAF_SNOWFLAKE_HORIZON_MS: '30000' };
const NO_TAGS = { LEAF_SEGMENT_ENABLED: 'false' };
const FILE = { LEAF_SNOWFLAKE_OFFLINE: 'local_file' };

export const CASES: readonly FixtureCase[] = [
  {
    name: 'sqlite+local',
    env: { LEAF_SNOWFLAKE_REGISTRY: 'local', ...LONG_LEASE },
    hasTags: true,
    keepsWorker: true,
    open: nowhere,
  },
  { name: 'sqlite+defaults', env: {}, hasTags: true, keepsWorker: false, open: nowhere },
  { name: 'mariadb+mysql', env: { ...registry('mysql'), ...FILE }, hasTags: true, keepsWorker: true, open: mariadb },
  { name: 'postgres+database', env: registry('database'), hasTags: true, keepsWorker: false, open: postgres },
  {
    name: 'zk_normal',
    env: { ...registry('zk_normal'), ...FILE, ...NO_TAGS },
    hasTags: false,
    keepsWorker: true,
    open: zookeeper,
  },
  {
    name: 'zk_recycle',
    env: { ...registry('zk_recycle'), ...NO_TAGS },
    hasTags: false,
    keepsWorker: false,
    open: zookeeper,
  },
  { name: 'etcd', env: { ...registry('etcd'), ...NO_TAGS }, hasTags: false, keepsWorker: false, open: etcd },
];

function registry(name: string): NodeJS.ProcessEnv {
  return { LEAF_SNOWFLAKE_REGISTRY: name };
}

/** Copies a data directory; SQLite files become their statements. */
export async function saveDirectory(directory: string, folder: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const to = join(folder, path.slice(directory.length));
    await mkdir(dirname(to), { recursive: true });
    if (entry.name.endsWith('.sqlite')) {
      const { stdout } = await run(await requireTool('sqlite3'), [path, '.dump']);
      await writeFile(`${to}.sql`, stdout);
    } else if (!/sqlite|lock/.test(entry.name)) await cp(path, to);
  }
}

export async function loadDirectory(folder: string, directory: string): Promise<void> {
  // Git keeps no empty directories.
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const to = join(directory, path.slice(folder.length));
    await mkdir(dirname(to), { recursive: true });
    if (!entry.name.endsWith('.sqlite.sql')) {
      await cp(path, to);
      continue;
    }
    const database = new (await loadSqlite())(to.slice(0, -'.sql'.length));
    database.exec(await readFile(path, 'utf8'));
    database.close();
  }
}

function nowhere(): Promise<FixturePlace> {
  const nothing = (): Promise<void> => Promise.resolve();
  return Promise.resolve({ env: {}, save: nothing, load: nothing, stop: nothing });
}

const SQL = 'database.sql';
/** In place of what identifies the server of a database. */
const IDENTITY = '<identity of the database server>';

async function mariadb(): Promise<FixturePlace> {
  const server = await startMariadb();
  const url = new URL(await server.createDatabase());
  const name = url.pathname.slice(1);
  return {
    env: { LEAF_DATABASE_URL: url.href },
    save: async (folder) => {
      const { hostname, port, username } = url;
      const access = [`--host=${hostname}`, `--port=${port}`, `--user=${username}`];
      const form = ['--skip-comments', '--skip-extended-insert', '--skip-add-locks', '--skip-add-drop-table'];
      const { stdout } = await run(await requireTool('mysqldump'), [...access, ...form, name]);
      // Only the client of MariaDB understands this line.
      await saveSql(folder, stdout.replace(/^\/\*M?!999999.*\n/, ''), await identityOf(server));
    },
    load: async (folder) => {
      const session = await server.open(name);
      await session.query(await sqlOf(folder, await identityOf(server)));
      await session.close();
    },
    stop: () => server.stop(),
  };
}

async function postgres(): Promise<FixturePlace> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  return {
    env: { LEAF_DATABASE_URL: url },
    save: async (folder) => {
      const form = ['--inserts', '--no-owner', '--no-privileges', '--no-comments'];
      const { stdout } = await run(join(server.programs, 'pg_dump'), [...form, url]);
      // Commands of psql, and comments with versions.
      await saveSql(
        folder,
        stdout.replaceAll(/^(\\|--).*\n/gm, '').replaceAll(/\n{2,}/g, '\n'),
        await identityOf(server),
      );
    },
    load: async (folder) => {
      const client = await connectPostgres(server.port, new URL(url).pathname.slice(1));
      await client.query(await sqlOf(folder, await identityOf(server)));
      await client.end();
    },
    stop: () => server.stop(),
  };
}

async function identityOf(server: MariadbServer | PostgresServer): Promise<string> {
  const answer = await server.query(`SELECT ${server.identity} AS server`);
  const [row] = 'rows' in answer ? answer.rows : answer;
  return String((row as { server?: unknown } | undefined)?.server);
}

async function saveSql(folder: string, sql: string, identity: string): Promise<void> {
  await writeFile(join(folder, SQL), sql.replaceAll(identity, IDENTITY));
}

async function sqlOf(folder: string, identity: string): Promise<string> {
  return (await readFile(join(folder, SQL), 'utf8')).replaceAll(IDENTITY, identity);
}

const NODES = 'nodes.json';
type Nodes = Record<string, string>;

async function zookeeper(): Promise<FixturePlace> {
  await requireZookeeperClient();
  const server = await startZookeeper();
  const address = `127.0.0.1:${server.port}`;
  return {
    env: { LEAF_ZOOKEEPER: address },
    save: async (folder) => {
      const session = openSession(address);
      const nodes: Nodes = {};
      const visit = async (path: string): Promise<void> => {
        const data = (await session.getData(path))?.data;
        if (data === undefined) return;
        nodes[path] = data;
        for (const name of (await session.children(path)).sort()) await visit(`${path}/${name}`);
      };
      await visit('/snowflake');
      await session.close();
      await writeFile(join(folder, NODES), `${JSON.stringify(nodes, undefined, 2)}\n`);
    },
    load: async (folder) => {
      const session = openSession(address);
      for (const [path, data] of Object.entries(await nodesOf(folder))) await session.create(path, data, 'persistent');
      await session.close();
    },
    stop: () => server.stop(),
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (text: string): string => Buffer.from(text, 'base64').toString();

async function etcd(): Promise<FixturePlace> {
  const server: EtcdServer = await startEtcd();
  return {
    env: { LEAF_ETCD_ENDPOINTS: server.endpoint },
    save: async (folder) => {
      const answer = await server.post('/v3/kv/range', { key: base64('/leaf/'), range_end: base64('/leaf0') });
      const { kvs } = answer as { kvs: { key: string; value: string }[] };
      const nodes: Nodes = Object.fromEntries(kvs.map(({ key, value }) => [plain(key), plain(value)]));
      await writeFile(join(folder, NODES), `${JSON.stringify(nodes, undefined, 2)}\n`);
    },
    load: async (folder) => {
      for (const [key, value] of Object.entries(await nodesOf(folder))) {
        await server.post('/v3/kv/put', { key: base64(key), value: base64(value) });
      }
    },
    stop: () => server.stop(),
  };
}

async function nodesOf(folder: string): Promise<Nodes> {
  return JSON.parse(await readFile(join(folder, NODES), 'utf8')) as Nodes;
}
