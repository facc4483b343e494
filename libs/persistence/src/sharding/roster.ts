import { LeafError } from '@leaf-ids/core';
import { missing, replaced } from '../stores/roster-faults';
import type { Shard } from './shard';

/**
 * Compares the configured databases with the names on record in each database. A recorded database that is not
 * configured has tags that would restart at 1. A database that the others have on record, but that lacks its own name,
 * was replaced.
 *
 * The name of a new database is recorded in itself first and then in the others. So a name that is on record elsewhere
 * is on record in the database itself.
 */
export class Roster {
  /** The faults of the last comparison. */
  faults: readonly string[] = [];

  private readonly reported = new Set<string>();
  private updating: Promise<void> | undefined;

  /** @param onFault called once for each fault */
  constructor(
    private readonly shards: readonly Shard[],
    private readonly onFault: (message: string) => void,
  ) {}

  /** Checks the databases that respond; records new names once all of them respond. Never rejects. */
  update(): Promise<void> {
    this.updating ??= this.compare()
      .catch(() => undefined)
      .finally(() => (this.updating = undefined));
    return this.updating;
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` while the databases differ from those on record */
  async assertComplete(): Promise<void> {
    await this.update();
    const [fault] = this.faults;
    if (fault !== undefined) throw new LeafError('LEAF_STORE_UNAVAILABLE', fault);
  }

  private async compare(): Promise<void> {
    const lists = new Map<Shard, readonly string[]>();
    await Promise.all(
      this.shards.map(async (shard) => {
        const names = await namesOf(shard);
        if (names !== undefined) lists.set(shard, names);
      }),
    );
    const configured = this.shards.map(({ name }) => name);
    const remembered = new Set([...lists.values()].flat());
    const faults = [...remembered].filter((name) => !configured.includes(name)).map(missing);
    for (const [shard, names] of lists) {
      if (names.includes(shard.name) || !remembered.has(shard.name)) continue;
      // Another server may have recorded it meanwhile.
      if ((await namesOf(shard))?.includes(shard.name) !== true) faults.push(replaced(shard.name));
    }
    this.faults = faults;
    for (const fault of faults) this.report(fault);
    // A list with a single database records no names: that database can also be configured without a list.
    if (faults.length === 0 && lists.size > 1 && lists.size === this.shards.length) await record(lists);
  }

  private report(fault: string): void {
    if (this.reported.has(fault)) return;
    this.reported.add(fault);
    this.onFault(fault);
  }
}

/** Undefined when the database does not respond. */
async function namesOf(shard: Shard): Promise<readonly string[] | undefined> {
  try {
    return await shard.stores.names.list();
  } catch {
    return undefined;
  }
}

/** If a write fails, the next update repeats it. */
async function record(lists: ReadonlyMap<Shard, readonly string[]>): Promise<void> {
  const newcomers = [...lists].filter(([shard, names]) => !names.includes(shard.name)).map(([shard]) => shard);
  for (const shard of newcomers) await shard.stores.names.add(shard.name);
  for (const [shard, names] of lists) {
    for (const { name } of lists.keys()) if (!names.includes(name)) await shard.stores.names.add(name);
  }
}
