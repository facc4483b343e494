import { LeafError, type NewTag, type TagChange, type TagRow, TagStore } from '@leaf/core';
import { highest } from '../tags/sql-tag-store';
import type { Shards } from './shards';
import { misplaced } from './tag-places';

/** The tags of several databases, for those who look after them. */
export class ShardedTagStore extends TagStore {
  constructor(private readonly shards: Shards) {
    super();
  }

  /** Whole, or an error: all databases have to answer. Rows in a database that they do not belong to are left out. */
  async list(limit?: number): Promise<TagRow[]> {
    const lists = await Promise.all(
      this.shards.all.map(async (shard) => {
        const rows = await shard.stores.tags.list(limit);
        return rows.filter(({ tag }) => this.shards.of(tag) === shard);
      }),
    );
    return lists
      .flat()
      .sort((a, b) => (a.tag < b.tag ? -1 : 1))
      .slice(0, limit);
  }

  async find(tag: string): Promise<TagRow | undefined> {
    return this.shards.of(tag).stores.tags.find(tag);
  }

  /**
   * Asks all databases: a row that was left behind in another one has given IDs, and so has a tag that was deleted there.
   *
   * @throws LeafError as {@link TagStore.create}, and `LEAF_STORE_UNAVAILABLE` while one of them cannot be asked or is
   *   not configured
   */
  async create(tag: NewTag): Promise<TagRow> {
    await this.shards.roster.assertComplete();
    const owner = this.shards.of(tag.tag);
    let deleted: bigint | undefined;
    for (const shard of this.shards.all) {
      if (shard === owner) continue;
      const { tags } = shard.stores;
      if ((await tags.find(tag.tag)) !== undefined) {
        throw new LeafError('LEAF_TAG_EXISTS', misplaced(tag.tag, shard.name, owner.name));
      }
      deleted = highest(deleted, await tags.deleted(tag.tag));
    }
    return owner.stores.tags.createAbove(tag, deleted);
  }

  async change(tag: string, change: TagChange): Promise<{ readonly before: TagRow; readonly after: TagRow }> {
    return this.shards.of(tag).stores.tags.change(tag, change);
  }

  async remove(tag: string): Promise<TagRow> {
    return this.shards.of(tag).stores.tags.remove(tag);
  }
}
