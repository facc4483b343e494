/** The message for a row in a database that does not own its tag. */
export function misplaced(tag: string, shard: string, owner: string): string {
  return `Tag "${tag}" belongs to the database "${owner}", but has a row in "${shard}", which serves no IDs. Move it with leaf-server move-tags, or assign the tag to "${shard}" in the option segment.database.shards.tags.`;
}

/** The message for a tag whose periods would restart. */
export function periodsElsewhere(tag: string, shard: string, owner: string): string {
  return `Tag "${tag}" belongs to the database "${owner}", but "${shard}" has a row of it or a record of its deletion, and may have rows of its periods. If the tag has a row there, move it with leaf-server move-tags; if it was deleted, delete its rows and those of its periods ("${tag}", "${tag}@…") in leaf_deleted_tag there. Or assign the tag to "${shard}" in the option segment.database.shards.tags.`;
}

/** @param maxId the first unallocated ID in `shard` */
export function behind(tag: string, owner: string, shard: string, maxId: bigint): string {
  return `Tag "${tag}" has issued IDs up to ${maxId - 1n} from the database "${shard}", and its row in "${owner}" would issue some of them again. Raise maxId of the tag to ${maxId}, then delete the row in "${shard}".`;
}

/** The message for an interleaved tag of which some shares are in databases that are not configured. */
export function sharesMissing(tag: string, found: number, of: number): string {
  return `Tag "${tag}" is interleaved over ${of} databases, but only ${found} of the configured ones have a share: the IDs of the others are unknown here, and a new tag of this name would issue some of them again. Configure the databases with the missing shares again, in the option segment.database.shards. Without them, keep the tag as it is, and give a new tag another name.`;
}
