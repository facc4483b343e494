/** What to do about a row of a tag in a database that it does not belong to. */
export function misplaced(tag: string, shard: string, owner: string): string {
  return `Tag "${tag}" belongs to the database "${owner}", but has a row in "${shard}": it gives no IDs from there. Move the row over, or name "${shard}" for this tag in LEAF_DATABASE_TAGS.`;
}

/** Of a tag whose periods would begin again. */
export function periodsElsewhere(tag: string, shard: string, owner: string): string {
  return `Tag "${tag}" belongs to the database "${owner}", but periods of it may have rows in "${shard}", which has or had the tag. Move the rows of its periods over, then delete what "${shard}" has of it: its row, and the one of "${tag}@" in leaf_deleted_tag. Or name "${shard}" for this tag in LEAF_DATABASE_TAGS.`;
}

/** @param maxId the first ID that is not taken in `shard` */
export function behind(tag: string, owner: string, shard: string, maxId: bigint): string {
  return `Tag "${tag}" has given IDs up to ${maxId - 1n} from the database "${shard}", and its row in "${owner}" would give some of them again. Raise its maxId to ${maxId}, and delete its row in "${shard}".`;
}
