/** Log message of a database in memory. */
export const IN_MEMORY =
  'The database is in memory: nothing lasts. Each restart, and each other Leaf with such a database, issues the same IDs again. Use it only in tests.';

/** Log message after the tables in `database` were created. */
export function newDatabase(database: string): string {
  return `The database ${database} is new: every tag starts at 1. If this service already has a database, stop this server now and correct the URL; leaf-server check shows which database has each tag.`;
}
