import { join } from 'node:path';
import type { SegmentStore } from '@leaf-ids/core';
import { startMariadb } from '../../test/support/servers/mariadb';
import { startPostgres } from '../../test/support/servers/postgres';
import type { Sandbox } from '../http/sandbox';
import { type Database, open } from './database';
import { type BareDriver, bareMysql, barePostgres, bareSqlite } from './bare-driver';

/** Default pool size of the store. */
const CONNECTIONS = 8;
export const STEP = 1000;

/** A private database server, with the store and the bare driver. */
export interface Subject {
  readonly name: string;
  readonly store: SegmentStore;
  readonly bare: BareDriver;
  close(): Promise<void>;
}

/** Sequential, so that only one database server runs at a time. */
export const SUBJECTS: readonly ((sandbox: Sandbox, tags: readonly string[]) => Promise<Subject>)[] = [
  onMariadb,
  onPostgres,
  onSqlite,
];

async function onMariadb(_sandbox: Sandbox, tags: readonly string[]): Promise<Subject> {
  const server = await startMariadb();
  const url = await server.createDatabase();
  const database = await filled(url, tags);
  const [row] = await server.query('SELECT VERSION() AS version');
  return subject(`MariaDB ${String(row?.['version'])}`, database, bareMysql(url, CONNECTIONS), () => server.stop());
}

async function onPostgres(_sandbox: Sandbox, tags: readonly string[]): Promise<Subject> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const database = await filled(url, tags);
  const { rows } = await server.query('SHOW server_version');
  const { server_version: version } = rows[0] as { server_version: string };
  return subject(`PostgreSQL ${version}`, database, barePostgres(url, CONNECTIONS), () => server.stop());
}

async function onSqlite(sandbox: Sandbox, tags: readonly string[]): Promise<Subject> {
  const folder = sandbox.folder();
  const file = join(folder, 'leaf.sqlite');
  const database = await filled(`sqlite:${file}`, tags);
  const [row] = await database.dataSource.query<{ version: string }[]>('SELECT sqlite_version() AS version');
  return subject(`SQLite ${row?.version ?? 'unknown'}`, database, bareSqlite(file), () => {
    sandbox.remove(folder);
    return Promise.resolve();
  });
}

async function filled(url: string, tags: readonly string[]): Promise<Database> {
  const database = await open(url);
  const rows = tags.map((tag) => `('${tag}', 1, ${STEP})`).join(', ');
  await database.dataSource.query('DELETE FROM leaf_alloc');
  await database.dataSource.query(`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ${rows}`);
  return database;
}

function subject(name: string, { store, dataSource }: Database, bare: BareDriver, stop: () => Promise<void>): Subject {
  return {
    name,
    store,
    bare,
    async close() {
      await bare.close();
      await dataSource.destroy();
      await stop();
    },
  };
}
