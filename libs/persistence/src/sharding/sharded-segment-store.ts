import {
  type Allocation,
  type AllocationRequest,
  type IdRange,
  LeafError,
  type Period,
  SegmentStore,
  type TagEntry,
  type TagKind,
  tagOfRow,
} from '@leaf-ids/core';
import { orRefusal, reasonOf } from '@leaf-ids/core/internal';
import type { Shard } from './shard';
import { SharedTags } from './shared-tags';
import { type Shards, behind, misplaced, periodsElsewhere } from './shards';
import { takenOut } from '../stores/database-names';

export interface ShardEvents {
  /** The tags of a database could not be listed; those known before remain. */
  readonly onShardFailed: (shard: string, error: unknown) => void;
  /** A row is in a database that does not own its tag; it serves no IDs. */
  readonly onMisplaced: (tag: string, shard: string, owner: string) => void;
}

/**
 * The tags of several databases. Each tag is in one of them, or interleaved over all. The failure of a database affects
 * only its own tags.
 */
export class ShardedSegmentStore extends SegmentStore {
  readonly description: string;
  /** The tags of each database, as of its last response. */
  private readonly known: Map<Shard, Map<string, TagEntry>>;
  /** The tags in each database that belong to another one, as of its last response. */
  private readonly misplaced = new Map<Shard, ReadonlySet<string>>();
  private readonly shared: SharedTags;
  /** Tags with a leftover row in another database that may be above the row in use. */
  private readonly unproven = new Set<string>();
  /** Misplaced rows that were found since the last report. */
  private readonly unreported: [tag: string, shard: Shard][] = [];

  constructor(
    private readonly shards: Shards,
    private readonly events: ShardEvents,
  ) {
    super();
    this.shared = new SharedTags(shards.clock);
    this.known = new Map(shards.all.map((shard) => [shard, new Map<string, TagEntry>()]));
    this.description = shards.all.map(({ name, description }) => `${name}=${description}`).join(' ');
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` when none of the databases responds */
  async listTags(): Promise<TagEntry[]> {
    const looks = await Promise.all(this.shards.all.map((shard) => this.look(shard)));
    if (!looks.includes(true)) {
      throw new LeafError(
        'LEAF_STORE_UNAVAILABLE',
        'None of the segment databases responds; the causes are in the log of this server.',
        {
          retryAfterMs: 1000,
        },
      );
    }
    await this.shards.roster.update();
    this.reportMisplaced();
    const tags = Array.from(this.known.values(), (known) => [...known]).flat();
    return [...new Map(tags).values()];
  }

  /**
   * @throws LeafError `LEAF_TAG_ROW_INVALID` when the tag has a row only in a database that does not own it, or may
   *   have one in a database that is not configured; `LEAF_STORE_UNAVAILABLE`
   */
  async findTag(tag: string): Promise<TagEntry | undefined> {
    const owner = this.shards.of(tag);
    try {
      const found = await this.ask(owner, tag);
      if (found?.kind?.interleave !== undefined) await this.findShares(tag);
      if (found === undefined && !this.shared.has(tag)) this.assertNowhere(tag, owner);
      return found ?? this.shared.find(tag);
    } catch (error) {
      if (!(error instanceof LeafError) || !error.retryable) throw error;
      await this.findShares(tag);
      const shared = this.shared.find(tag);
      if (shared === undefined) throw error;
      return shared;
    }
  }

  /** @throws LeafError as {@link SegmentStore.allocate} and {@link findTag} */
  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    const owner = this.shards.of(tag);
    // Look for shares of a new tag now: its database may be gone before the next refresh.
    // Likewise before the first allocation of an interleaved tag: a refresh under way has not seen all of them.
    if (!this.isKnown(tag) || this.shared.isNew(tag)) await this.findTag(tagOfRow(tag));
    if (this.shared.has(tag)) return this.shared.allocate(tag, owner, size);
    this.assertInList(tag);
    await this.assertNotBehind(tag);
    try {
      return await owner.stores.segments.allocate(tag, size);
    } catch (error) {
      if (isUnknownTag(error)) {
        // A known tag without a row: its database may just have been taken out of the list.
        await this.shards.roster.update();
        // Of a tag that is there, only the row of a period is gone: the period begins again.
        if ((await this.ask(owner, tagOfRow(tag))) === undefined) this.assertNowhere(tagOfRow(tag), owner);
      }
      throw error;
    }
  }

  /** Queries the databases in parallel. Tags that need more than their owner are allocated one by one. */
  override async allocateAll(requests: readonly AllocationRequest[]): Promise<(Allocation | LeafError)[]> {
    const answers = new Map<AllocationRequest, Allocation | LeafError>();
    const plain = requests.filter(
      ({ tag }) =>
        this.isKnown(tag) && this.isInList(tag) && !this.shared.has(tag) && !this.unproven.has(tagOfRow(tag)),
    );
    const shards = new Set(plain.map(({ tag }) => this.shards.of(tag)));
    await Promise.all(
      Array.from(shards, async (shard) => {
        const own = plain.filter(({ tag }) => this.shards.of(tag) === shard);
        const found = await orRefusal(allocateFrom(shard, own));
        own.forEach((request, index) => {
          const answer = found instanceof LeafError ? found : found[index];
          // Of a known tag without a row, `allocate` finds the reason.
          if (answer !== undefined && !isUnknownTag(answer)) answers.set(request, answer);
        });
      }),
    );
    return Promise.all(
      requests.map(async (request) => {
        const { tag, size } = request;
        return answers.get(request) ?? (await orRefusal(this.allocate(tag, size)));
      }),
    );
  }

  override databaseOf(tag: string): string {
    return this.shards.of(tag).name;
  }

  async giveBack(tag: string, range: IdRange): Promise<boolean> {
    if (this.shared.has(tag)) return this.shared.giveBack(tag, range);
    return this.shards.of(tag).stores.segments.giveBack(tag, range);
  }

  async raise(tag: string, minimum: bigint): Promise<void> {
    if (this.shared.has(tag)) return this.shared.raise(tag, minimum);
    return this.shards.of(tag).stores.segments.raise(tag, minimum);
  }

  override async recover(tag: string, minimum: bigint): Promise<void> {
    if (this.shared.has(tag)) return this.shared.recover(tag, minimum);
    return this.shards.of(tag).stores.segments.recover(tag, minimum);
  }

  async beginPeriod(tag: string, kind: TagKind, period: Period, least: bigint): Promise<void> {
    this.assertInList(tag);
    await this.assertNotBehind(tag);
    return this.shards.of(tag).stores.segments.beginPeriod(tag, kind, period, least);
  }

  /** Records the deletion in every database that had a share of the tag and responds. */
  async recordDeleted(tag: string, nextId: bigint): Promise<void> {
    const places = new Set([this.shards.of(tag), ...this.shared.placesOf(tag)]);
    const writes = Array.from(places, async ({ stores }) => stores.segments.recordDeleted(tag, nextId));
    const results = await Promise.allSettled(writes);
    if (results.every(({ status }) => status === 'rejected')) await Promise.all(writes);
  }

  /** Pings every database. */
  override async ping(): Promise<string | undefined> {
    const pings = await Promise.allSettled(this.shards.all.map(async ({ stores }) => stores.segments.ping()));
    const away = this.shards.all.flatMap(({ name }, index) => {
      const ping = pings[index];
      return ping?.status === 'rejected' ? [{ name, error: ping.reason as unknown }] : [];
    });
    if (away.length === this.shards.all.length) throw away[0]?.error;
    return away.length === 0 ? undefined : away.map(({ name, error }) => `${name}: ${reasonOf(error)}`).join('; ');
  }

  private isKnown(row: string): boolean {
    const tag = tagOfRow(row);
    return this.shared.has(tag) || this.known.get(this.shards.of(tag))?.has(tag) === true;
  }

  /** Whether the database of a row has not been taken out of the list, as far as known. */
  private isInList(row: string): boolean {
    return !this.shards.roster.takenOut.includes(this.shards.of(row).name);
  }

  /**
   * A promoted replica or a backup of a database that was taken out may still have the rows that were moved.
   *
   * @throws LeafError `LEAF_TAG_ROW_INVALID`
   */
  private assertInList(row: string): void {
    if (!this.isInList(row)) {
      throw rowInvalid(`Tag "${tagOfRow(row)}" is not found. ${takenOut(this.shards.of(row).name)}`);
    }
  }

  private async ask(shard: Shard, tag: string): Promise<TagEntry | undefined> {
    const found = await shard.stores.segments.findTag(tag);
    if (found === undefined) return undefined;
    this.shared.note(shard, found);
    this.known.get(shard)?.set(tag, found);
    return found;
  }

  /** Finds the shares of an interleaved tag in the other databases that respond. */
  private async findShares(tag: string): Promise<void> {
    const others = this.shards.all.filter((shard) => shard !== this.shards.of(tag));
    await Promise.allSettled(
      others.map(async (shard) => {
        const found = await shard.stores.segments.findTag(tag);
        if (found?.kind?.interleave !== undefined) this.shared.note(shard, found);
      }),
    );
  }

  /** @returns whether the database responded */
  private async look(shard: Shard): Promise<boolean> {
    try {
      const listed = await shard.stores.segments.listTags();
      const owns = (tag: string): boolean => this.shards.of(tag) === shard;
      this.shared.noteAll(shard, listed, owns);
      const isHere = ({ tag, kind }: TagEntry): boolean => kind?.interleave !== undefined || owns(tag);
      const here = listed.filter(isHere);
      this.known.set(shard, new Map(here.map((entry) => [entry.tag, entry])));
      const others = listed.length > here.length ? listed.filter((entry) => !isHere(entry)) : [];
      this.noteMisplaced(shard, new Set(others.map(({ tag }) => tag)));
      return true;
    } catch (error) {
      this.events.onShardFailed(shard.name, error);
      return false;
    }
  }

  private noteMisplaced(shard: Shard, tags: ReadonlySet<string>): void {
    const before = this.misplaced.get(shard);
    this.misplaced.set(shard, tags);
    for (const tag of tags) {
      if (before?.has(tag) === true) continue;
      this.unproven.add(tag);
      this.unreported.push([tag, shard]);
    }
  }

  /** Reports misplaced tags, except those whose owner was removed from the list: their row is in use. */
  private reportMisplaced(): void {
    for (const [tag, { name }] of this.unreported.splice(0)) {
      if (this.isInList(tag)) this.events.onMisplaced(tag, name, this.shards.of(tag).name);
    }
  }

  /**
   * For a tag with several rows: the row in use must not be behind a leftover row.
   *
   * @param row name of a tag, or of one of its periods
   * @throws LeafError `LEAF_TAG_ROW_INVALID`; `LEAF_STORE_UNAVAILABLE` while a row cannot be read
   */
  private async assertNotBehind(row: string): Promise<void> {
    const tag = tagOfRow(row);
    if (!this.unproven.has(tag)) return;
    const owner = this.shards.of(tag);
    const own = await owner.stores.tags.current(tag);
    if (own === undefined) {
      this.assertNowhere(tag, owner);
      return;
    }
    let isAlone = true;
    for (const { name, stores } of this.shards.all.filter((shard) => this.misplaced.get(shard)?.has(tag) === true)) {
      const left = await stores.tags.current(tag);
      if (left === undefined) continue;
      isAlone = false;
      if (own.reset !== undefined) throw rowInvalid(periodsElsewhere(tag, name, owner.name));
      if (left.maxId > own.maxId) throw rowInvalid(behind(tag, owner.name, name, left.maxId));
    }
    // A server with other settings may use the other row, and a failover may move it.
    if (isAlone) this.unproven.delete(tag);
  }

  /** Throws if another database has a row of a tag that its owner lacks. */
  private assertNowhere(tag: string, owner: Shard): void {
    const { roster } = this.shards;
    const isOwnerListed = this.isInList(tag);
    const shard = this.shards.all.find((each) => isOwnerListed && this.misplaced.get(each)?.has(tag) === true);
    if (shard !== undefined) throw rowInvalid(misplaced(tag, shard.name, owner.name));
    const [fault] = roster.faults;
    if (fault !== undefined) throw rowInvalid(`Tag "${tag}" is not found. ${fault}`);
  }
}

function isUnknownTag(answer: unknown): boolean {
  return answer instanceof LeafError && answer.code === 'LEAF_TAG_NOT_FOUND';
}

function rowInvalid(message: string): LeafError {
  return new LeafError('LEAF_TAG_ROW_INVALID', message);
}

async function allocateFrom(
  { stores }: Shard,
  requests: readonly AllocationRequest[],
): Promise<(Allocation | LeafError)[]> {
  return stores.segments.allocateAll(requests);
}
