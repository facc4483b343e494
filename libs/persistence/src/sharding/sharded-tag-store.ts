import { LeafError, type NewTag, type TagChange, type TagRow, TagStore } from '@leaf/core';
import type { Shards } from './shards';

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

  /** Asks all databases: a row that was left behind in another one has given IDs. */
  async create(tag: NewTag): Promise<TagRow> {
    const owner = this.shards.of(tag.tag);
    for (const shard of this.shards.all) {
      if (shard === owner || (await shard.stores.tags.find(tag.tag)) === undefined) continue;
      throw new LeafError(
        'LEAF_TAG_EXISTS',
        `Tag "${tag.tag}" belongs to the database "${owner.name}" and has a row in "${shard.name}". Move that row over, or name "${shard.name}" for this tag in LEAF_DATABASE_TAGS.`,
      );
    }
    return owner.stores.tags.create(tag);
  }

  async change(tag: string, change: TagChange): Promise<{ readonly before: TagRow; readonly after: TagRow }> {
    return this.shards.of(tag).stores.tags.change(tag, change);
  }

  async remove(tag: string): Promise<TagRow> {
    return this.shards.of(tag).stores.tags.remove(tag);
  }
}
