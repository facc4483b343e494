import { isAbsolute, resolve } from 'node:path';
import { LeafError } from '@leaf/core';

/** A database, as its URL names it. */
export interface DatabaseTarget {
  readonly dialect: 'sqlite';
  /** Absolute path of the database file. */
  readonly file: string;
  /** For logs and errors: no secrets. */
  readonly description: string;
}

/**
 * Reads `sqlite:<file>`; a relative file counts from the working directory.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function parseDatabaseUrl(url: string): DatabaseTarget {
  const match = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url);
  const path = match?.[1];
  if (path === undefined || path.startsWith(':')) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      'The database URL must be sqlite:<file>, for example sqlite:/var/lib/leaf/leaf.sqlite.',
    );
  }
  const file = isAbsolute(path) ? path : resolve(path);
  return { dialect: 'sqlite', file, description: `sqlite:${file}` };
}
