const FORGET = 'remove its name from the other databases as described in docs/operations.md';

export function missing(name: string): string {
  return `The database "${name}" has or had tags of this service but is missing in the option segment.database.shards: its tags would restart at 1. Add it again, or move its tags and ${FORGET}.`;
}

export function replaced(name: string): string {
  return `The database "${name}" was replaced by another one: its tags would restart at 1. Correct its URL in the option segment.database.shards, or restore it. To start with an empty database, ${FORGET}.`;
}

export function oneOfSeveral(names: readonly string[]): string {
  return `This database was one of several (${names.join(', ')}): tags of the others would restart at 1. List all of them in the option segment.database.shards. Or move their tags to this database and remove the names from it as described in docs/operations.md.`;
}
