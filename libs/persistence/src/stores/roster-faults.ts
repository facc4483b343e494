const FORGET = 'let the others forget it, as docs/operations.md says';

export function missing(name: string): string {
  return `The database "${name}" has had tags of this service, and is not in LEAF_DATABASE_URLS: they would begin anew. Name it again; or move its tags and ${FORGET}.`;
}

export function replaced(name: string): string {
  return `The database "${name}" is not the one that the others know by this name: its tags would begin anew. Correct its URL in LEAF_DATABASE_URLS, or restore it; to begin with an empty one, ${FORGET}.`;
}

export function oneOfSeveral(names: readonly string[]): string {
  return `This database was one of several, ${names.join(', ')}: tags of the others would begin anew. Name them all in LEAF_DATABASE_URLS; or move their tags here and let this one forget them, as docs/operations.md says.`;
}
