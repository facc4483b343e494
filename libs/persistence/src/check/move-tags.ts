import type { Clock, RandomSource } from '@leaf-ids/core';
import { ShardRouter } from '../sharding/shard-router';
import { replaced as replacedFault } from '../stores/roster-faults';
import { type MoveOptions, notReady, OpenDatabases } from './open-databases';
import type { MovedTag } from './remove-database';

export interface MoveTagsOptions extends MoveOptions {
  /** Only these; all that are not in the database that owns them when left out. */
  readonly only?: readonly string[];
}

/** The result of `leaf-server move-tags`. */
export interface TagMoveReport {
  readonly dryRun: boolean;
  /** Sorted by name: the tags that were moved now, not those of an earlier attempt. */
  readonly tags: readonly MovedTag[];
}

/**
 * Moves each tag to the database that owns it under these settings, with its position, settings, periods and records.
 * Servers with other settings may run meanwhile and afterwards: where a tag has no row in the database that they expect,
 * they refuse it. Interleaved tags stay: they have a row in each database.
 *
 * A repetition continues after the last step that was done.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` while the databases differ from those on record; `LEAF_TAG_ROW_INVALID` for a
 *   tag that cannot be moved; `LEAF_TAG_EXISTS`, `LEAF_DATABASE_UNUSABLE`, `LEAF_STORE_UNAVAILABLE`
 */
export async function moveTags(options: MoveTagsOptions, clock: Clock, random: RandomSource): Promise<TagMoveReport> {
  const open = await OpenDatabases.open(options, clock, random);
  try {
    const { messages, replaced } = await open.compareNames();
    const faults = [...messages, ...replaced.map(replacedFault)];
    if (faults.length > 0) throw notReady(faults);
    return await moveWithin(open, options);
  } finally {
    await open.close();
  }
}

async function moveWithin(open: OpenDatabases, { shards, only, dryRun }: MoveTagsOptions): Promise<TagMoveReport> {
  const router = new ShardRouter(Object.keys(shards.databases), shards.tags ?? {});
  const tags: MovedTag[] = [];
  if (!dryRun) await open.prepare();
  for (const source of open) {
    const moves = (tag: string, isInterleaved: boolean): boolean =>
      router.shardOf(tag) !== source.name && (only === undefined ? !isInterleaved : only.includes(tag));
    const counts = dryRun
      ? await source.wouldHandOver(moves)
      : await source.handOver(moves, (tag) => open.get(router.shardOf(tag)), false);
    for (const [tag, rows] of counts) tags.push({ tag, from: source.name, to: router.shardOf(tag), rows });
  }
  return { dryRun, tags: tags.sort((a, b) => (a.tag < b.tag ? -1 : 1)) };
}
