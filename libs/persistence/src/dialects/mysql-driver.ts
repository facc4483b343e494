import type { Connection, Pool, PoolOptions } from 'mysql2';
import { LeafError } from '@leaf/core';

/**
 * Numbers that do not fit are refused and not cut off: cut off, the end of one range would be the start of the next two.
 * Modes that change what a statement means are off. What is confirmed is committed.
 */
export const SESSION_MODE = "sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1";

/**
 * mysql2, each connection of whose pools begins with the settings that Leaf needs. Loaded when it is first needed: who has
 * another database can do without the package.
 *
 * @param readPassword asked for the password of each connection, must not throw; left out: the options have it
 * @throws LeafError `LEAF_CONFIG_INVALID` when it is not installed
 */
export async function loadMysql(readPassword?: () => string): Promise<object> {
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

/** mysql2 copies the properties of this object, getters included, to each connection that it makes. */
function renewPassword(pool: Pool, readPassword: () => string): void {
  Object.defineProperty(connectionConfig(pool), 'password', { get: readPassword, enumerable: true });
}

/** Not among the types of mysql2. */
function connectionConfig(pool: Pool): object {
  const config: unknown = Reflect.get(pool, 'config');
  const inner: unknown = typeof config === 'object' && config !== null && Reflect.get(config, 'connectionConfig');
  if (typeof inner === 'object' && inner !== null) return inner;
  throw new LeafError(
    'LEAF_CONFIG_INVALID',
    'This version of mysql2 takes no passwordFile: install the one that the package.json of Leaf names.',
  );
}
