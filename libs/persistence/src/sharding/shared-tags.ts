import {
  type Allocation,
  type IdRange,
  type Interleave,
  InterleavedBlocks,
  LeafError,
  PLAIN_TAG,
  type TagEntry,
} from '@leaf-ids/core';
import type { Shard } from './shard';

interface SharedTag {
  /** The databases that have a share of it, and which; by the newest look at each. */
  readonly shares: Map<Shard, Interleave>;
  /** The database that gave the newest block: asked again until it fails. */
  preferred: Shard | undefined;
  /** The highest ID that this server was given. */
  highest: bigint;
}

/**
 * Interleaved tags: each of several databases has a row, and gives blocks of its own. A tag takes its blocks from the
 * database that it belongs to, and from the next one when that fails, always above the highest ID that this server has
 * given: it ascends, and survives the loss of a database.
 */
export class SharedTags {
  private readonly tags = new Map<string, SharedTag>();

  has(tag: string): boolean {
    return this.tags.has(tag);
  }

  /** The entry of a tag, as any of its databases has it; undefined when it is not interleaved. */
  find(tag: string): TagEntry | undefined {
    const [interleave] = this.tags.get(tag)?.shares.values() ?? [];
    return interleave && { tag, kind: { ...PLAIN_TAG, interleave } };
  }

  /** Takes note of a row; one that is not interleaved any more is forgotten. */
  note(shard: Shard, { tag, kind }: TagEntry): void {
    const interleave = kind?.interleave;
    if (interleave === undefined) {
      this.forget(shard, tag);
      return;
    }
    const known = this.tags.get(tag) ?? { shares: new Map<Shard, Interleave>(), preferred: undefined, highest: 0n };
    known.shares.set(shard, interleave);
    this.tags.set(tag, known);
  }

  /**
   * All that a database has; what it had before and has no more is forgotten. Tags that it owns are taken from it again.
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
   * The next block of a tag.
   *
   * @param owner the database that is asked first
   * @throws LeafError `LEAF_TAG_ROW_INVALID` when the rows do not fit together, else what the last database said
   */
  async allocate(tag: string, owner: Shard, size: number | undefined): Promise<Allocation> {
    const shared = this.of(tag);
    const { shares, preferred } = shared;
    assertFit(tag, shares);
    const order = [...new Set([preferred ?? owner, owner, ...shares.keys()])].filter((shard) => shares.has(shard));
    let failure: unknown;
    for (const shard of order) {
      try {
        const { segments } = shard.stores;
        if (shared.highest > 0n && shard !== preferred) await segments.raise(tag, shared.highest + 1n);
        const allocation = await segments.allocate(tag, size);
        shared.preferred = shard;
        if (allocation.to > shared.highest) shared.highest = allocation.to;
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

  /** In all databases that answer. @throws LeafError when none does */
  async raise(tag: string, minimum: bigint): Promise<void> {
    const shards = [...this.of(tag).shares.keys()];
    await Promise.any(shards.map(async ({ stores }) => stores.segments.raise(tag, minimum))).catch(firstOf);
  }

  private of(tag: string): SharedTag {
    const shared = this.tags.get(tag);
    if (shared === undefined) throw new Error(`"${tag}" is not interleaved`);
    return shared;
  }

  private forget(shard: Shard, tag: string): void {
    const shares = this.tags.get(tag)?.shares;
    if (shares?.delete(shard) === true && shares.size === 0) this.tags.delete(tag);
  }
}

/** @throws LeafError `LEAF_TAG_ROW_INVALID` when two databases would give the same IDs */
function assertFit(tag: string, shares: ReadonlyMap<Shard, Interleave>): void {
  const fault = shareFault([...shares].map(([{ name }, interleave]) => [name, interleave]));
  if (fault !== undefined) throw new LeafError('LEAF_TAG_ROW_INVALID', `Tag "${tag}" ${fault}`);
}

/** Why the shares of a tag do not fit together; undefined when they do. */
export function shareFault(shares: readonly (readonly [name: string, interleave: Interleave])[]): string | undefined {
  for (const [index, [name, { of, remainder, block }]] of shares.entries()) {
    for (const [other, share] of shares.slice(0, index)) {
      if (share.of === of && share.block === block && share.remainder !== remainder) continue;
      return `has shares in "${other}" and "${name}" that do not fit together: interleave_of and interleave_block must be the same, interleave_remainder different. Delete the row that was made by mistake.`;
    }
  }
  return undefined;
}

function firstOf(error: unknown): never {
  throw error instanceof AggregateError ? error.errors[0] : error;
}
