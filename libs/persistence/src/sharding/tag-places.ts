/** The message for a row in a database that does not own its tag. */
export function misplaced(tag: string, shard: string, owner: string): string {
  return `Tag "${tag}" belongs to the database "${owner}", but has a row in "${shard}", which serves no IDs. Move the row to "${owner}", or assign the tag to "${shard}" in the option segment.database.shards.tags.`;
}

/** The message for a tag whose periods would restart. */
export function periodsElsewhere(tag: string, shard: string, owner: string): string {
  return `Tag "${tag}" belongs to the database "${owner}", but its periods may have rows in "${shard}", which has or had the tag. Move the rows of its periods to "${owner}"; then delete its row in "${shard}", and the row of "${tag}@" in leaf_deleted_tag there. Or assign the tag to "${shard}" in the option segment.database.shards.tags.`;
}

/** @param maxId the first unallocated ID in `shard` */
export function behind(tag: string, owner: string, shard: string, maxId: bigint): string {
  return `Tag "${tag}" has issued IDs up to ${maxId - 1n} from the database "${shard}", and its row in "${owner}" would issue some of them again. Raise its maxId to ${maxId}, then delete its row in "${shard}".`;
}
