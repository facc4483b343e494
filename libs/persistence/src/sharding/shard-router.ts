import { rendezvousScore } from '@leaf-ids/core';

/** Each tag on one of several databases. */
export interface ShardMap {
  /** Name → URL. The names decide where tags are, not the URLs: a database that moves keeps its name. */
  readonly databases: Readonly<Record<string, string>>;
  /** Tag → name, for tags whose place is not left to the hash. */
  readonly tags?: Readonly<Record<string, string>>;
}

/**
 * Where each tag is: as the map says, else by rendezvous hashing: one more database takes its share of
 * the tags from all others, and no other tag changes its place.
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
    const scores = this.names.map((name) => ({ name, score: rendezvousScore(tag, name) }));
    return scores.reduce((best, next) => (next.score > best.score ? next : best)).name;
  }
}
