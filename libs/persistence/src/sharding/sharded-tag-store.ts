import {
  type Interleave,
  LeafError,
  type NewTag,
  type TagChange,
  type TagPage,
  type TagRow,
  TagStore,
} from '@leaf-ids/core';
import { compareNames, highest } from '../stores/sql-tag-store';
import type { Shard } from './shard';
import { type Shards, misplaced, periodsElsewhere, sharesMissing } from './shards';

/** Administers the tags of several databases. */
export class ShardedTagStore extends TagStore {
  constructor(private readonly shards: Shards) {
    super();
  }

  /**
   * By name, in the order of the bytes: databases may differ in theirs. Whole, or an error: all of them have to answer.
   * Rows in a database that they do not belong to are left out.
   */
  async list({ after, limit = Infinity }: TagPage = {}): Promise<TagRow[]> {
    const rows: TagRow[] = [];
    for (let last = after; ;) {
      const size = limit - rows.length;
      const pages = await Promise.all(
        this.shards.all.map(async (shard) => shard.stores.tags.listByBytes({ after: last, limit: size })),
      );
      // What a full page leaves out comes after its end: rows of others beyond it have to wait.
      const ends = pages.flatMap((page) => (page.length === size ? (page.at(-1)?.tag ?? []) : []));
      last = ends.sort(compareNames)[0];
      const end = last;
      const complete = pages.flatMap((page, index) =>
        page.filter(
          ({ tag }) =>
            this.shards.of(tag) === this.shards.all[index] && (end === undefined || compareNames(tag, end) <= 0),
        ),
      );
      for (const row of complete.sort((a, b) => compareNames(a.tag, b.tag))) rows.push(row);
      if (last === undefined || rows.length >= limit) return rows.slice(0, limit);
    }
  }

  async find(tag: string): Promise<TagRow | undefined> {
    return this.shards.of(tag).stores.tags.find(tag);
  }

  /**
   * Queries all databases, because a leftover row or a deleted tag in another one has issued IDs. An interleaved tag
   * gets a row in each database; the remainders follow the order of the database names.
   *
   * @throws LeafError as {@link TagStore.create}, and `LEAF_STORE_UNAVAILABLE` while one of the databases does not
   *   respond or is not configured
   */
  async create(tag: NewTag): Promise<TagRow> {
    await this.shards.roster.assertComplete();
    if (tag.interleave !== undefined) return this.createShares(tag, tag.interleave);
    const owner = this.shards.of(tag.tag);
    const others = this.shards.all.filter((shard) => shard !== owner);
    return owner.stores.tags.createAbove(tag, async () => {
      let deleted: bigint | undefined;
      for (const { name, stores } of others) {
        await stores.tags.assertNotMoving(tag.tag);
        if ((await stores.tags.current(tag.tag)) !== undefined) {
          throw new LeafError('LEAF_TAG_EXISTS', misplaced(tag.tag, name, owner.name));
        }
        const here = await stores.tags.deleted(tag);
        if (here !== undefined && tag.reset !== undefined) {
          throw new LeafError('LEAF_TAG_EXISTS', periodsElsewhere(tag.tag, name, owner.name));
        }
        deleted = highest(deleted, here);
      }
      return deleted;
    });
  }

  override shardOf(tag: string): string {
    return this.shards.of(tag).name;
  }

  /** Changes an interleaved tag in every database that has a share of it. */
  async change(tag: string, change: TagChange): Promise<{ readonly before: TagRow; readonly after: TagRow }> {
    const owner = this.shards.of(tag);
    for (const shard of await this.otherShares(tag)) await shard.stores.tags.change(tag, change);
    return owner.stores.tags.change(tag, change);
  }

  /** @throws LeafError as {@link TagStore.remove}, and `LEAF_TAG_ROW_INVALID` while a share of the tag is missing */
  async remove(tag: string): Promise<TagRow> {
    const owner = this.shards.of(tag);
    const others = await this.otherShares(tag);
    const of = (await owner.stores.tags.current(tag))?.interleave?.of ?? 0;
    if (others.length + 1 < of) {
      throw new LeafError('LEAF_TAG_ROW_INVALID', sharesMissing(tag, others.length + 1, of));
    }
    for (const shard of others) await shard.stores.tags.remove(tag);
    return owner.stores.tags.remove(tag);
  }

  /** Keeps shares that an earlier attempt created. */
  private async createShares(tag: NewTag, interleave: Interleave): Promise<TagRow> {
    let deleted: bigint | undefined;
    for (const { stores } of this.shards.all) deleted = highest(deleted, await stores.tags.deleted(tag));
    const byName = [...this.shards.all].sort((a, b) => (a.name < b.name ? -1 : 1));
    if (interleave.of !== byName.length) {
      throw new LeafError(
        'LEAF_BODY_INVALID',
        `The tag "${tag.tag}" cannot be stored: interleave.of must be ${byName.length}, the number of databases.`,
      );
    }
    let created = false;
    for (const [remainder, shard] of byName.entries()) {
      const { tags } = shard.stores;
      const share = { ...interleave, remainder };
      const row = await tags.current(tag.tag);
      if (row === undefined) await tags.createAbove({ ...tag, interleave: share }, () => Promise.resolve(deleted));
      else if (!isShare(row, share)) throw exists(tag.tag);
      created ||= row === undefined;
    }
    const row = await this.shards.of(tag.tag).stores.tags.current(tag.tag);
    if (!created || row === undefined) throw exists(tag.tag);
    return row;
  }

  /** The other databases that have a share of the tag; empty unless the tag is interleaved. */
  private async otherShares(tag: string): Promise<Shard[]> {
    const owner = this.shards.of(tag);
    if ((await owner.stores.tags.current(tag))?.interleave === undefined) return [];
    const shares: Shard[] = [];
    for (const shard of this.shards.all) {
      if (shard === owner) continue;
      if ((await shard.stores.tags.current(tag))?.interleave !== undefined) shares.push(shard);
    }
    return shares;
  }
}

function isShare({ interleave }: TagRow, { of, remainder, block }: Interleave): boolean {
  return interleave?.of === of && interleave.remainder === remainder && interleave.block === block;
}

function exists(tag: string): LeafError {
  return new LeafError('LEAF_TAG_EXISTS', `The tag "${tag}" already exists. Change it, or choose another name.`);
}
