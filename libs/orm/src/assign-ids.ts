import { type IdService, MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '@leaf-ids/core';

/**
 * Requests `count` IDs with as few calls as possible and assigns them, in ascending order.
 *
 * @param tag the tag of segment IDs; undefined for snowflake IDs
 */
export async function assignIds(
  ids: IdService,
  tag: string | undefined,
  count: number,
  assign: (index: number, id: bigint) => void,
): Promise<void> {
  for (let index = 0; index < count;) {
    if (tag === undefined) {
      for (const id of await ids.snowflakes(Math.min(MAX_BATCH_SIZE, count - index))) assign(index++, id);
      continue;
    }
    for (const { from, to } of await ids.nextRanges(tag, Math.min(MAX_RANGE_SIZE, count - index))) {
      for (let id = from; id <= to; id++) assign(index++, id);
    }
  }
}
