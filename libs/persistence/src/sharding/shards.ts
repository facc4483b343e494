import { type Clock, tagOfRow } from '@leaf-ids/core';
import { withinDeadline } from '@leaf-ids/core/internal';
import { FIRST_TAG_FIELDS } from '../schema/migrate';
import { Roster } from './roster';
import type { Shard } from './shard';
import type { ShardRouter } from './shard-router';

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
