import { MAX_ID, type NewTag } from '@leaf-ids/core';
import type { SqlParameter } from '../connections/sql-database';

/**
 * The first ID of a row that is not allocated; of an interleaved tag, the place among its own IDs.
 *
 * It is in `max_id`, except for rows with settings that the Java service and earlier versions ignore: these have it in
 * `next_id`, and 2^63 - 1 in `max_id`. No step can be added to that, so nobody allocates from such a row who does not
 * know its settings.
 */
export const POSITION = 'COALESCE(next_id, max_id)';

/** A condition: the position can be used. False when `max_id` of a row with settings was changed by hand. */
export const HAS_POSITION = `(next_id IS NULL AND max_id > 0 OR next_id > 0 AND max_id = ${MAX_ID})`;

/** Assigns `value`, an expression that may contain {@link POSITION}, to the column that has the position of the row. */
export function setPosition(value: string): string {
  // `next_id` last: MySQL evaluates the assignments from left to right.
  return `max_id = CASE WHEN next_id IS NULL THEN ${value} ELSE max_id END,
    next_id = CASE WHEN next_id IS NULL THEN NULL ELSE ${value} END`;
}

/** Whether the Java service and earlier versions would give out wrong IDs of a tag with these settings. */
export function isHidden({ max = null, order, reset, interleave }: PositionSettings): boolean {
  return max !== null || order === 'strict' || reset !== undefined || interleave !== undefined;
}

type PositionSettings = Pick<NewTag, 'order' | 'reset' | 'interleave'> & { readonly max?: bigint | null | undefined };

/** The values of `max_id` and `next_id`. */
export function positionColumns(position: bigint, hidden: boolean): [maxId: SqlParameter, nextId: SqlParameter] {
  return hidden ? [MAX_ID, position] : [position, null];
}
