import type { Connection, Pool, PoolOptions } from 'mysql2';
import { LeafError } from '@leaf-ids/core';
import type { ReadPassword } from '../connections/password';

/**
 * Numbers that do not fit are refused and not cut off: cut off, the end of one range would be the start of the next two.
 * Modes that change what a statement means are off. What is confirmed is committed.
 */
export const SESSION_MODE = "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1";

/**
 * mysql2, each connection of whose pools begins with the settings that Leaf needs. Loaded when it is first needed: who has
 * another database can do without the package.
 *
 * @param readPassword asked for the password of each connection; left out: the options have it
 * @throws LeafError `LEAF_CONFIG_INVALID` when it is not installed
 */
export async function loadMysql(readPassword?: ReadPassword): Promise<object> {
  const { default: mysql } = await import('mysql2').catch((error: unknown) => {
    throw new LeafError('LEAF_CONFIG_INVALID', 'MySQL and MariaDB need the package mysql2: npm install mysql2.', {
      cause: error,
    });
  });
  const createPool = (options: PoolOptions): Pool => {
    const pool = mysql.createPool(options).on('connection', begin);
    if (readPassword !== undefined) renewPassword(pool, readPassword);
    return pool;
  };
  return Object.create(mysql, { createPool: { value: createPool } }) as object;
}

/** Sent ahead of the first statement of whoever gets the connection. */
function begin(connection: Connection): void {
  // mysql2 listens for one error; a second one without a listener would end the process.
  connection.on('error', () => undefined);
  connection.query(`SET SESSION ${SESSION_MODE}`, (error) => {
    if (error !== null) connection.destroy();
  });
}

/** mysql2 takes a password that is there already: it is read before a connection is made. */
function renewPassword(pool: Pool, readPassword: ReadPassword): void {
  const { config, free } = internals(pool);
  const getConnection = pool.getConnection.bind(pool);
  pool.getConnection = (callback) => {
    if (free.length > 0) {
      getConnection(callback);
      return;
    }
    void readPassword().then((password) => {
      config.password = password;
      getConnection(callback);
    });
  };
}

interface Internals {
  /** Copied to each connection that is made. */
  readonly config: { password?: string };
  /** Connections that wait for their next use. */
  readonly free: { readonly length: number };
}

/** Not among the types of mysql2. */
function internals(pool: Pool): Internals {
  const { config, _freeConnections: free } = pool as unknown as {
    readonly config?: { readonly connectionConfig?: Internals['config'] };
    readonly _freeConnections?: Internals['free'];
  };
  if (config?.connectionConfig !== undefined && free !== undefined) return { config: config.connectionConfig, free };
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    'This version of mysql2 takes no passwordFile and no passwordCommand: install the one that the package.json of Leaf names.',
  );
}
