import { LeafError } from '@leaf-ids/core';
import { missing, replaced } from '../stores/roster-faults';
import type { Shard } from './shard';

/**
 * Compares the databases of the configuration with those that each database remembers. One that is not configured has
 * tags that would begin anew here; one that its siblings know, but that does not know itself, is another one than before.
 *
 * A database is remembered by itself first, and then by the others: whoever finds it there finds it in itself as well.
 */
export class Roster {
  /** What is wrong, as last seen. */
  faults: readonly string[] = [];

  private readonly told = new Set<string>();
  private updating: Promise<void> | undefined;

  /** @param onFault told of each fault once */
  constructor(
    private readonly shards: readonly Shard[],
    private readonly onFault: (message: string) => void,
  ) {}

  /** Looks at the databases that answer, and makes newcomers known once all of them do. Never fails. */
  update(): Promise<void> {
    this.updating ??= this.compare()
      .catch(() => undefined)
      .finally(() => (this.updating = undefined));
    return this.updating;
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` while the databases are not those that are remembered */
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
      // Another server may have made it known since it was asked.
      if ((await namesOf(shard))?.includes(shard.name) !== true) faults.push(replaced(shard.name));
    }
    this.faults = faults;
    for (const fault of faults) this.tell(fault);
    // The only one of a list remembers none, so that it also serves without the list.
    if (faults.length === 0 && lists.size > 1 && lists.size === this.shards.length) await introduce(lists);
  }

  private tell(fault: string): void {
    if (this.told.has(fault)) return;
    this.told.add(fault);
    this.onFault(fault);
  }
}

/** Undefined when the database does not answer. */
async function namesOf(shard: Shard): Promise<readonly string[] | undefined> {
  try {
    return await shard.stores.names.list();
  } catch {
    return undefined;
  }
}

/** What cannot be written now is written by the next one. */
async function introduce(lists: ReadonlyMap<Shard, readonly string[]>): Promise<void> {
  const newcomers = [...lists].filter(([shard, names]) => !names.includes(shard.name)).map(([shard]) => shard);
  for (const shard of newcomers) await shard.stores.names.add(shard.name);
  for (const [shard, names] of lists) {
    for (const { name } of lists.keys()) if (!names.includes(name)) await shard.stores.names.add(name);
  }
}
