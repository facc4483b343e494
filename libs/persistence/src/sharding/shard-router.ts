import { rendezvousScore } from '@leaf-ids/core/internal';

/** Assigns each tag to one of several databases. */
export interface ShardMap {
  /** Name → URL. Tags are assigned by name, so a database that moves to another URL must keep its name. */
  readonly databases: Readonly<Record<string, string>>;
  /** Tag → name, for tags that are not assigned by hash. */
  readonly tags?: Readonly<Record<string, string>>;
}

/**
 * Assigns tags by the map, otherwise by rendezvous hashing: an additional database takes its share of the tags evenly
 * from the others, and all other tags stay where they are.
 */
export class ShardRouter {
  constructor(
    private readonly names: readonly string[],
    private readonly tags: Readonly<Record<string, string>>,
  ) {}

  /** The name of the database that owns `tag`. */
  shardOf(tag: string): string {
    const mapped = Object.hasOwn(this.tags, tag) ? this.tags[tag] : undefined;
    if (mapped !== undefined) return mapped;
    const scores = this.names.map((name) => ({ name, score: rendezvousScore(tag, name) }));
    return scores.reduce((best, next) => (next.score > best.score ? next : best)).name;
  }
}
