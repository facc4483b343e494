import { LeafError, MAX_ID, type Period, periodRow, type TagKind } from '@leaf-ids/core';
import type { SqlStatement } from '../connections/sql-database';
import { POSITION } from '../failover/move-forward';
import { historyEnd, type TagDialect } from './tag-dialect';

/** Maximum clock difference between a promoted replica and the former primary, in seconds. */
const CLOCKS_S = 86_400;

/**
 * Inserts the row of a period from the row of its tag, unless it exists or the clock of the database is outside the
 * window of the period. The WHERE clause comes last, so that the failover guard can append its condition.
 *
 * A failover may have lost the row of an earlier INSERT. The failover moved `max_id` of the tag above the highest
 * possible value of the lost row. Periods that opened after the failover start at `period_start`.
 */
export function insertPeriod(
  dialect: TagDialect,
  tag: string,
  { reset, zone }: TagKind,
  { name, opensAt, closesAt }: Period,
  least: bigint,
): SqlStatement {
  const { number, greatest, thisTag, key, now, updated } = dialect;
  const row = periodRow(tag, name);
  const earliest = seconds(opensAt) - CLOCKS_S;
  const sql = `leaf_alloc (biz_tag, max_id, next_id, step, description, max_step, last_id, ordering)
    SELECT ?, ${MAX_ID}, ${greatest}(
      CASE WHEN ${number} > COALESCE((SELECT ${updated} FROM leaf_segment_server WHERE id = 1), ${number})
        THEN COALESCE(period_start, ${POSITION}) ELSE ${POSITION} END,
      ${number}, COALESCE((SELECT ${historyEnd(dialect)} FROM leaf_deleted_tag WHERE biz_tag = ?), 1)),
      step, description, max_step, last_id, ordering
    FROM leaf_alloc WHERE ${thisTag} AND reset_every = ? AND COALESCE(time_zone, 'UTC') = ?
      AND ${now} BETWEEN ${number} AND ${number}`;
  return {
    sql,
    parameters: [
      ...[row, earliest, earliest, least, row, ...key(tag)],
      ...[reset ?? '', zone ?? 'UTC', seconds(opensAt), seconds(closesAt)],
    ],
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

export function sameForCollation(row: string, other: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The collation of leaf_alloc treats "${row}" as equal to its row "${other}", so the period cannot begin. Compare bytes: ALTER TABLE leaf_alloc MODIFY biz_tag varchar(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT ''.`,
  );
}
