import type { Connection, Pool, PoolOptions } from 'mysql2';
import { LeafError } from '@leaf-ids/core';
import type { ReadPassword } from '../../connections/password';
import { missingDriver } from '../shared/server-driver';

/**
 * Strict mode rejects out-of-range numbers; truncating them would start two ranges at the same ID. Modes that change
 * the meaning of a statement are off, and autocommit is on.
 */
export const SESSION_MODE = "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1";

/**
 * Loads mysql2. Its pools apply the session settings of Leaf to each new connection. The import is lazy, because other
 * engines do not need the package.
 *
 * @param readPassword returns the password for each new connection; by default, the options contain it
 * @throws LeafError `LEAF_CONFIG_INVALID` when mysql2 is not installed
 */
export async function loadMysql(readPassword?: ReadPassword): Promise<object> {
  const { default: mysql } = await import('mysql2').catch((error: unknown) => {
    throw missingDriver('mysql2', 'MySQL and MariaDB need', error);
  });
  const createPool = (options: PoolOptions): Pool => {
    const pool = mysql.createPool(options).on('connection', begin);
    if (readPassword !== undefined) renewPassword(pool, readPassword);
    return pool;
  };
  return Object.create(mysql, { createPool: { value: createPool } }) as object;
}

/** Runs before the first statement on the connection. */
function begin(connection: Connection): void {
  // mysql2 handles only the first error; a second one without a listener would crash the process.
  connection.on('error', () => undefined);
  connection.query(`SET SESSION ${SESSION_MODE}`, (error) => {
    if (error !== null) connection.destroy();
  });
}

/** mysql2 has no asynchronous passwords: read the password before the pool opens a connection. */
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
  /** Copied to each new connection. */
  readonly config: { password?: string };
  /** Idle connections. */
  readonly free: { readonly length: number };
}

/** Private fields of the pool, which the types of mysql2 omit. */
function internals(pool: Pool): Internals {
  const { config, _freeConnections: free } = pool as unknown as {
    readonly config?: { readonly connectionConfig?: Internals['config'] };
    readonly _freeConnections?: Internals['free'];
  };
  if (config?.connectionConfig !== undefined && free !== undefined) return { config: config.connectionConfig, free };
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    'This version of mysql2 does not support passwordFile and passwordCommand. Install the version from the package.json of Leaf.',
  );
}
