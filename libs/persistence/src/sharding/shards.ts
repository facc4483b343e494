import { type Clock, withinDeadline, tagOfRow } from '@leaf-ids/core';
import { FIRST_TAG_FIELDS } from '../schema/migrate';
import { FIRST_TAG } from '../database/open-database';
import { Roster } from './roster';
import type { Shard } from './shard';
import type { ShardRouter } from './shard-router';

/** How long a start waits for databases that are away while another one is there, in milliseconds. */
const START_LIMIT_MS = 5000;

/** Several databases, and which of them has a tag. */
export class Shards {
  readonly roster: Roster;
  private readonly byName: ReadonlyMap<string, Shard>;

  constructor(
    readonly all: readonly Shard[],
    private readonly router: ShardRouter,
    private readonly clock: Clock,
    onRosterFault: (message: string) => void,
  ) {
    this.roster = new Roster(all, onRosterFault);
    this.byName = new Map(all.map((shard) => [shard.name, shard]));
  }

  /** The database that has `tag`; the rows of its periods are in the same one. */
  of(tag: string): Shard {
    const name = this.router.shardOf(tagOfRow(tag));
    const shard = this.byName.get(name);
    if (shard === undefined) throw new Error(`there is no database "${name}"`);
    return shard;
  }

  /**
   * Opens them all. Resolves when each is open or has failed once; one that is open is enough.
   *
   * @throws LeafError why the first one failed, when all of them did
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

  /** Only where every other database is empty as well: it may have been given there, or deleted. */
  private async provideFirstTag(): Promise<void> {
    const owner = this.of(FIRST_TAG);
    if (!owner.created || this.roster.faults.length > 0) return;
    try {
      const used = await Promise.all(this.all.map(async ({ stores }) => stores.tags.isUsed()));
      if (!used.includes(true)) await owner.stores.tags.createAbove({ tag: FIRST_TAG, ...FIRST_TAG_FIELDS }, undefined);
    } catch {
      // A database is away, or another server was faster; whoever wants the tag creates it.
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((shard) => shard.close()));
  }
}
