import { type Clock, type RandomSource, tagOfRow } from '@leaf-ids/core';
import { ShardRouter } from '../sharding/shards';
import { replaced as replacedFault } from '../stores/database-names';
import { type MoveOptions, notReady, type OpenDatabase, OpenDatabases } from './open-databases';
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
  const ownerOf = (tag: string): OpenDatabase => open.get(router.shardOf(tag));
  const frozen = new Map<OpenDatabase, readonly string[]>();
  for (const source of open) {
    const { rows } = await source.rows.handedOver();
    frozen.set(
      source,
      rows.map(({ biz_tag }) => tagOfRow(biz_tag)),
    );
  }
  const interrupted = new Set([...frozen.values()].flat());
  const plans: { readonly source: OpenDatabase; readonly tag: string }[] = [];
  for (const source of open) {
    const listed = (await source.rows.list()).flatMap(({ biz_tag, interleave_of }) => {
      const tag = tagOfRow(biz_tag);
      const isWanted = only === undefined ? interleave_of === null : only.includes(tag);
      return (isWanted || interrupted.has(tag)) && ownerOf(tag) !== source ? tag : [];
    });
    for (const tag of new Set([...(frozen.get(source) ?? []), ...listed])) plans.push({ source, tag });
  }
  // A move that is taken back: first what the other database may have issued meanwhile, then the frozen rows.
  plans.sort((a, b) => Number(ownerOf(a.tag) === a.source) - Number(ownerOf(b.tag) === b.source));
  // Before the first change, because it throws for a row that cannot move.
  const counts = new Map<(typeof plans)[number], number>();
  for (const plan of plans) counts.set(plan, (await plan.source.wouldHandOver(plan.tag)).get(plan.tag) ?? 0);
  if (!dryRun) {
    await open.prepare();
    for (const plan of plans) {
      const moved = await plan.source.handOver(ownerOf, plan.tag);
      counts.set(plan, moved.get(plan.tag) ?? 0);
    }
  }
  const tags = plans.map((plan) => {
    return { tag: plan.tag, from: plan.source.name, to: router.shardOf(plan.tag), rows: counts.get(plan) ?? 0 };
  });
  return { dryRun, tags: tags.sort((a, b) => (a.tag < b.tag ? -1 : 1)) };
}
