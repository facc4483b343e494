import {
  type Allocation,
  type IdRange,
  LeafError,
  type Period,
  reasonOf,
  SegmentStore,
  type TagEntry,
  type TagKind,
} from '@leaf/core';
import type { Shard } from './shard';
import type { Shards } from './shards';

export interface ShardEvents {
  /** The tags of a database could not be listed; those known before stay. */
  readonly onShardFailed: (shard: string, error: unknown) => void;
  /** A row is in a database that its tag does not belong to: no IDs come from it. */
  readonly onMisplaced: (tag: string, shard: string, owner: string) => void;
}

/** The tags of several databases, each of them in one. A database that fails takes its own tags away, no others. */
export class ShardedSegmentStore extends SegmentStore {
  readonly description: string;
  /** The tags of each database, as last seen. */
  private readonly known: Map<Shard, Map<string, TagEntry>>;
  private readonly misplaced = new Set<string>();

  constructor(
    private readonly shards: Shards,
    private readonly events: ShardEvents,
  ) {
    super();
    this.known = new Map(shards.all.map((shard) => [shard, new Map<string, TagEntry>()]));
    this.description = shards.all.map(({ name, description }) => `${name}=${description}`).join(' ');
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` when none of the databases could be asked */
  async listTags(): Promise<TagEntry[]> {
    const looks = await Promise.all(this.shards.all.map((shard) => this.look(shard)));
    if (!looks.includes(true)) {
      throw new LeafError('LEAF_STORE_UNAVAILABLE', 'None of the databases of the segments answers; see the log.', {
        retryAfterMs: 1000,
      });
    }
    return Array.from(this.known.values(), (tags) => [...tags.values()]).flat();
  }

  async findTag(tag: string): Promise<TagEntry | undefined> {
    const shard = this.shards.of(tag);
    const found = await shard.stores.segments.findTag(tag);
    if (found !== undefined) this.known.get(shard)?.set(tag, found);
    return found;
  }

  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    return this.shards.of(tag).stores.segments.allocate(tag, size);
  }

  async giveBack(tag: string, range: IdRange): Promise<boolean> {
    return this.shards.of(tag).stores.segments.giveBack(tag, range);
  }

  async raise(tag: string, minimum: bigint): Promise<void> {
    return this.shards.of(tag).stores.segments.raise(tag, minimum);
  }

  async beginPeriod(tag: string, kind: TagKind, period: Period, least: bigint): Promise<void> {
    return this.shards.of(tag).stores.segments.beginPeriod(tag, kind, period, least);
  }

  async recordDeleted(tag: string, nextId: bigint): Promise<void> {
    return this.shards.of(tag).stores.segments.recordDeleted(tag, nextId);
  }

  /** Of each database. */
  override async ping(): Promise<string | undefined> {
    const pings = await Promise.allSettled(this.shards.all.map(async ({ stores }) => stores.segments.ping()));
    const away = this.shards.all.flatMap(({ name }, index) => {
      const ping = pings[index];
      return ping?.status === 'rejected' ? [{ name, error: ping.reason as unknown }] : [];
    });
    if (away.length === this.shards.all.length) throw away[0]?.error;
    return away.length === 0 ? undefined : away.map(({ name, error }) => `${name}: ${reasonOf(error)}`).join('; ');
  }

  /** @returns whether the database could be asked */
  private async look(shard: Shard): Promise<boolean> {
    try {
      const listed = await shard.stores.segments.listTags();
      const own = listed.filter(({ tag }) => this.shards.of(tag) === shard);
      this.known.set(shard, new Map(own.map((entry) => [entry.tag, entry])));
      if (own.length < listed.length) this.reportMisplaced(shard, listed);
      return true;
    } catch (error) {
      this.events.onShardFailed(shard.name, error);
      return false;
    }
  }

  /** Once a tag and database. */
  private reportMisplaced(shard: Shard, listed: readonly TagEntry[]): void {
    for (const { tag } of listed) {
      const owner = this.shards.of(tag);
      const key = `${shard.name}\n${tag}`;
      if (owner === shard || this.misplaced.has(key)) continue;
      this.misplaced.add(key);
      this.events.onMisplaced(tag, shard.name, owner.name);
    }
  }
}
