import { type Clock, settledBefore, tagOfRow } from '@leaf/core';
import type { Shard } from './shard';
import type { ShardRouter } from './shard-router';

/** How long a start waits for databases that are away while another one is there, in milliseconds. */
const START_LIMIT_MS = 5000;

/** Several databases, and which of them has a tag. */
export class Shards {
  private readonly byName: ReadonlyMap<string, Shard>;

  constructor(
    readonly all: readonly Shard[],
    private readonly router: ShardRouter,
    private readonly clock: Clock,
  ) {
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
    await settledBefore(all, this.clock.monotonic() + START_LIMIT_MS, this.clock);
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((shard) => shard.close()));
  }
}
