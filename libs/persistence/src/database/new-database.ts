/** For the log of a server that has made its tables in `database`. */
export function newDatabase(database: string): string {
  return `The database ${database} is new: every tag begins at 1 there. If this service had a database before, stop it now and correct its URL; leaf-server check shows which tags are where.`;
}
