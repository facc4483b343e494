import {
  type Allocation,
  type Clock,
  type IdRange,
  type Interleave,
  LeafError,
  PLAIN_TAG,
  type SegmentStore,
  type TagEntry,
} from '@leaf-ids/core';
import { InterleavedBlocks, withinDeadline } from '@leaf-ids/core/internal';
import type { Shard } from './shard';

interface SharedTag {
  /** The share of each database, as of its last response. */
  readonly shares: Map<Shard, Interleave>;
  /** The database of the newest block; used again until it fails. */
  preferred: Shard | undefined;
  /** The highest ID known to be allocated: by this server, and before its first allocation by any. */
  highest: bigint;
  /** Whether the shares were compared, before the first allocation. */
  compared: boolean;
}

/** How long the first allocation of a tag waits for the positions of all shares, in milliseconds. */
const COMPARE_LIMIT_MS = 1000;

/**
 * Interleaved tags: each of several databases has a row and allocates its own blocks. A tag gets its blocks from the
 * database that owns it, or from the next one if that fails, always above the highest ID that this server has
 * allocated; its first block is above the positions of all shares that respond. So the IDs ascend, over restarts as
 * well, and the tag survives the loss of a database.
 */
export class SharedTags {
  private readonly tags = new Map<string, SharedTag>();
  /** The databases that had a share of a tag whose rows are gone. */
  private readonly former = new Map<string, Set<Shard>>();
  /** {@link SharedTag.highest} of tags whose rows are gone: one of them may be inserted again below it. */
  private readonly left = new Map<string, bigint>();

  constructor(private readonly clock: Clock) {}

  has(tag: string): boolean {
    return this.tags.has(tag);
  }

  /** Whether the tag is interleaved, and its shares were not compared yet. */
  isNew(tag: string): boolean {
    return this.tags.get(tag)?.compared === false;
  }

  /** The entry of a tag, from any of its databases; undefined when it is not interleaved. */
  find(tag: string): TagEntry | undefined {
    const [interleave] = this.tags.get(tag)?.shares.values() ?? [];
    return interleave && { tag, kind: { ...PLAIN_TAG, interleave } };
  }

  /** Records the share of a row; forgets a row that is no longer interleaved. */
  note(shard: Shard, { tag, kind }: TagEntry): void {
    const interleave = kind?.interleave;
    if (interleave === undefined) {
      this.forget(shard, tag);
      return;
    }
    const known = this.tags.get(tag) ?? {
      ...{ shares: new Map<Shard, Interleave>(), preferred: undefined, compared: false },
      highest: this.left.get(tag) ?? 0n,
    };
    known.shares.set(shard, interleave);
    this.tags.set(tag, known);
  }

  /**
   * Records all rows of a database and forgets those that are gone. Its own tags are allocated from it again.
   */
  noteAll(shard: Shard, entries: readonly TagEntry[], owns: (tag: string) => boolean): void {
    const listed = new Set<string>();
    for (const entry of entries) {
      if (entry.kind?.interleave === undefined) continue;
      listed.add(entry.tag);
      this.note(shard, entry);
      if (owns(entry.tag)) this.of(entry.tag).preferred = undefined;
    }
    for (const tag of this.tags.keys()) if (!listed.has(tag)) this.forget(shard, tag);
  }

  /**
   * Allocates the next block of a tag.
   *
   * @param owner the database to try first
   * @throws LeafError `LEAF_TAG_ROW_INVALID` when the shares conflict, otherwise the error of the last database
   */
  async allocate(tag: string, owner: Shard, size: number | undefined): Promise<Allocation> {
    const shared = this.of(tag);
    const { shares, preferred } = shared;
    assertFit(tag, shares);
    if (!shared.compared) await this.compare(tag, shared);
    const order = [...new Set([preferred ?? owner, owner, ...shares.keys()])].filter((shard) => shares.has(shard));
    let failure: unknown;
    for (const shard of order) {
      try {
        const { segments } = shard.stores;
        if (shared.highest > 0n && shard !== preferred) await segments.raise(tag, shared.highest + 1n);
        const allocation = await segments.allocate(tag, size);
        shared.preferred = shard;
        const last = allocation.more?.at(-1) ?? allocation;
        if (last.to > shared.highest) shared.highest = last.to;
        return allocation;
      } catch (error) {
        if (!(error instanceof LeafError) || !error.retryable) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  async giveBack(tag: string, range: IdRange): Promise<boolean> {
    for (const [shard, interleave] of this.of(tag).shares) {
      if (new InterleavedBlocks(interleave).exactly(range) !== undefined) {
        return shard.stores.segments.giveBack(tag, range);
      }
    }
    return false;
  }

  /** Raises the tag in all databases that respond. @throws LeafError when none responds */
  raise(tag: string, minimum: bigint): Promise<void> {
    return this.inAll(tag, (segments) => segments.raise(tag, minimum));
  }

  /** As {@link raise}, for a tag that has lost its newest allocations. */
  recover(tag: string, minimum: bigint): Promise<void> {
    return this.inAll(tag, (segments) => segments.recover(tag, minimum));
  }

  private async inAll(tag: string, call: (segments: SegmentStore) => Promise<void>): Promise<void> {
    const shards = [...this.of(tag).shares.keys()];
    await Promise.any(shards.map(async ({ stores }) => call(stores.segments))).catch(firstOf);
  }

  /** The databases that have, or had, a share of a tag. */
  placesOf(tag: string): Shard[] {
    return [...new Set([...(this.tags.get(tag)?.shares.keys() ?? []), ...(this.former.get(tag) ?? [])])];
  }

  /** After a start, the database that is tried first may be behind another one. */
  private async compare(tag: string, shared: SharedTag): Promise<void> {
    const reads = [...shared.shares].map(async ([{ stores }, { of, block }]) => {
      const next = (await stores.tags.current(tag))?.maxId ?? 1n;
      const last = next - BigInt(of - 1) * BigInt(block) - 1n;
      if (last > shared.highest) shared.highest = last;
    });
    await withinDeadline(Promise.allSettled(reads), this.clock.monotonic() + COMPARE_LIMIT_MS, this.clock);
    shared.compared = true;
  }

  private of(tag: string): SharedTag {
    const shared = this.tags.get(tag);
    if (shared === undefined) throw new Error(`"${tag}" is not interleaved`);
    return shared;
  }

  private forget(shard: Shard, tag: string): void {
    const shared = this.tags.get(tag);
    if (shared?.shares.delete(shard) !== true) return;
    if (shared.shares.size === 0) {
      this.tags.delete(tag);
      this.left.set(tag, shared.highest);
    }
    const former = this.former.get(tag) ?? new Set();
    this.former.set(tag, former.add(shard));
  }
}

/** @throws LeafError `LEAF_TAG_ROW_INVALID` when two databases would allocate the same IDs */
function assertFit(tag: string, shares: ReadonlyMap<Shard, Interleave>): void {
  const fault = shareFault([...shares].map(([{ name }, interleave]) => [name, interleave]));
  if (fault !== undefined) throw new LeafError('LEAF_TAG_ROW_INVALID', `Tag "${tag}" ${fault}`);
}

/** Why the shares of a tag conflict; undefined if they do not. */
export function shareFault(shares: readonly (readonly [name: string, interleave: Interleave])[]): string | undefined {
  for (const [index, [name, { of, remainder, block }]] of shares.entries()) {
    for (const [other, share] of shares.slice(0, index)) {
      if (share.of === of && share.block === block && share.remainder !== remainder) continue;
      return `has conflicting shares in "${other}" and "${name}": interleave_of and interleave_block must be equal, interleave_remainder must differ. Delete the wrong row.`;
    }
  }
  return undefined;
}

function firstOf(error: unknown): never {
  throw error instanceof AggregateError ? error.errors[0] : error;
}
