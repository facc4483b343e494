import { type Clock, tagOfRow } from '@leaf-ids/core';
import { withinDeadline, rendezvousScore } from '@leaf-ids/core/internal';
import { FIRST_TAG_FIELDS } from '../schema/migrate';
import { Roster } from './roster';
import type { Shard } from './shard';

/** How long a start waits for the other databases once one is open, in milliseconds. */
const START_LIMIT_MS = 5000;

/** Several databases, and the assignment of tags to them. */
export class Shards {
  readonly roster: Roster;
  private readonly byName: ReadonlyMap<string, Shard>;

  constructor(
    readonly all: readonly Shard[],
    private readonly router: ShardRouter,
    readonly clock: Clock,
    onRosterFault: (message: string) => void,
    private readonly firstTag: string | undefined,
  ) {
    this.roster = new Roster(all, onRosterFault);
    this.byName = new Map(all.map((shard) => [shard.name, shard]));
    for (const shard of all) shard.beforeMove = () => this.roster.assertListed(shard.name);
  }

  /** The database that owns `tag` and the rows of its periods. */
  of(tag: string): Shard {
    const name = this.router.shardOf(tagOfRow(tag));
    const shard = this.byName.get(name);
    if (shard === undefined) throw new Error(`there is no database "${name}"`);
    return shard;
  }

  /**
   * Opens all databases. Resolves when at least one is open and each of the others is open, has failed once or has
   * reached the time limit.
   *
   * @throws LeafError the error of the first database, when all of them failed
   */
  async start(): Promise<void> {
    const starts = this.all.map((shard) => shard.start());
    const any = Promise.any(starts).catch((error: unknown) => {
      throw error instanceof AggregateError ? error.errors[0] : error;
    });
    const all = Promise.allSettled(starts);
    await any;
    await withinDeadline(all, this.clock.monotonic() + START_LIMIT_MS, this.clock);
    await this.roster.update();
    await this.provideFirstTag();
  }

  /** Creates the first tag only if all databases are empty: another one may have served or deleted it. */
  private async provideFirstTag(): Promise<void> {
    const { firstTag: tag } = this;
    if (tag === undefined) return;
    const owner = this.of(tag);
    if (!owner.created || this.roster.faults.length > 0) return;
    try {
      const used = await Promise.all(this.all.map(async ({ stores }) => stores.tags.isUsed()));
      if (!used.includes(true)) await owner.stores.tags.createAbove({ tag, ...FIRST_TAG_FIELDS });
    } catch {
      // A database is down, or another server has created the tag. It can be created by hand.
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((shard) => shard.close()));
  }
}

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

/** The message for a row in a database that does not own its tag. */
export function misplaced(tag: string, shard: string, owner: string): string {
  return `Tag "${tag}" belongs to the database "${owner}", but has a row in "${shard}", which serves no IDs. Move it with leaf-server move-tags, or assign the tag to "${shard}" in the option segment.database.shards.tags.`;
}

/** The message for a tag whose periods would restart. */
export function periodsElsewhere(tag: string, shard: string, owner: string): string {
  return `Tag "${tag}" belongs to the database "${owner}", but "${shard}" has a row of it or a record of its deletion, and may have rows of its periods. If the tag has a row there, move it with leaf-server move-tags; if it was deleted, delete its rows and those of its periods ("${tag}", "${tag}@…") in leaf_deleted_tag there. Or assign the tag to "${shard}" in the option segment.database.shards.tags.`;
}

/** @param maxId the first unallocated ID in `shard` */
export function behind(tag: string, owner: string, shard: string, maxId: bigint): string {
  return `Tag "${tag}" has issued IDs up to ${maxId - 1n} from the database "${shard}", and its row in "${owner}" would issue some of them again. Raise maxId of the tag to ${maxId}, then delete the row in "${shard}".`;
}

/** The message for an interleaved tag of which some shares are in databases that are not configured. */
export function sharesMissing(tag: string, found: number, of: number): string {
  return `Tag "${tag}" is interleaved over ${of} databases, but only ${found} of the configured ones have a share: the IDs of the others are unknown here, and a new tag of this name would issue some of them again. Configure the databases with the missing shares again, in the option segment.database.shards. Without them, keep the tag as it is, and give a new tag another name.`;
}
