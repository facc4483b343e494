/** Each tag on one of several databases. */
export interface ShardMap {
  /** Name → URL. The names decide where tags are, not the URLs: a database that moves keeps its name. */
  readonly databases: Readonly<Record<string, string>>;
  /** Tag → name, for tags whose place is not left to the hash. */
  readonly tags?: Readonly<Record<string, string>>;
}

/**
 * Where each tag is: as the map says, else by rendezvous hashing (Thaler and Ravishankar, 1998). Every name is
 * hashed with the tag, and the name with the highest hash has it: one more database takes its share of the tags from all
 * others, and no other tag changes its place.
 */
export class ShardRouter {
  constructor(
    private readonly names: readonly string[],
    private readonly tags: Readonly<Record<string, string>>,
  ) {}

  /** The name of the database that has `tag`. */
  shardOf(tag: string): string {
    const mapped = Object.hasOwn(this.tags, tag) ? this.tags[tag] : undefined;
    if (mapped !== undefined) return mapped;
    const scores = this.names.map((name) => ({ name, score: scoreOf(name, tag) }));
    return scores.reduce((best, next) => (next.score > best.score ? next : best)).name;
  }
}

/** FNV-1a of 32 bits (Fowler, Noll, Vo), finished as MurmurHash3 (Appleby) finishes, so that every bit counts. */
function scoreOf(name: string, tag: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${name}\n${tag}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
