import { LeafError } from '@leaf-ids/core';
import { type RecordedNames, replaced, rosterFaults, takenOut } from '../stores/database-names';
import type { Shard } from './shard';

/**
 * Compares the configured databases with the names on record in each database. A recorded database that is not
 * configured has tags that would restart at 1, unless it was taken out. A database that the others have on record, but
 * that lacks its own name, was replaced.
 *
 * The name of a new database is recorded in itself first and then in the others. So a name that is on record elsewhere
 * is on record in the database itself.
 */
export class Roster {
  /** The faults of the last comparison. */
  faults: readonly string[] = [];
  /** The configured databases that were taken out of the list, as of the last comparison. */
  takenOut: readonly string[] = [];

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

  /**
   * Call before a database is used that may be an older copy: it may be from before it was taken out of the list.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` if it was taken out
   */
  async assertListed(name: string): Promise<void> {
    // Twice: a comparison that is under way may have read the names before the database was taken out.
    await this.update();
    await this.update();
    if (this.takenOut.includes(name)) throw new LeafError('LEAF_STORE_UNAVAILABLE', takenOut(name));
  }

  private async compare(): Promise<void> {
    const lists = new Map<Shard, RecordedNames>();
    await Promise.all(
      this.shards.map(async (shard) => {
        const names = await namesOf(shard);
        if (names !== undefined) lists.set(shard, names);
      }),
    );
    const configured = this.shards.map(({ name }) => name);
    const found = rosterFaults(configured, new Map([...lists].map(([{ name }, names]) => [name, names])));
    const faults = [...found.messages];
    for (const shard of lists.keys()) {
      if (!found.replaced.includes(shard.name)) continue;
      // Another server may have recorded it meanwhile.
      if ((await namesOf(shard))?.has(shard.name) !== true) faults.push(replaced(shard.name));
    }
    this.takenOut = found.takenOut;
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
async function namesOf(shard: Shard): Promise<RecordedNames | undefined> {
  try {
    return await shard.stores.names.list();
  } catch {
    return undefined;
  }
}

/** If a write fails, the next update repeats it. */
async function record(lists: ReadonlyMap<Shard, RecordedNames>): Promise<void> {
  const newcomers = [...lists].filter(([shard, names]) => !names.has(shard.name)).map(([shard]) => shard);
  for (const shard of newcomers) await shard.stores.names.add(shard.name);
  for (const [shard, names] of lists) {
    for (const { name } of lists.keys()) if (!names.has(name)) await shard.stores.names.add(name);
  }
}
