import { LeafError, MAX_ID } from '@leaf-ids/core';
import { MAX_STEP, periodicTag, TagExhaustedError, unknownTag } from '@leaf-ids/core/internal';
import type { Statement } from '../connections/sql-database';
import { HAS_POSITION, LAST_ID, POSITION } from '../failover/move-forward';
import { KIND_COLUMNS, type KindColumns } from './stored-tag';
import type { TagDialect } from './tag-dialect';

/** The row of a tag, read after an allocation changed no row. */
export interface AllocRow extends KindColumns {
  /** Decimal: the position of the row, from the column that has it. */
  readonly max_id: string | null;
  /** {@link HAS_POSITION}; 0 or NULL when the columns contradict each other. */
  readonly valid: number | boolean | null;
  readonly step: number | null;
  readonly max_step: number | null;
  /** Decimal: servers use the row below this position; null before the first use. */
  readonly issue_limit: string | null;
  /** Decimal: no ID below it is issued any more, according to the record of the tag; null without a record. */
  readonly deleted: string | null;
  /** Decimal: no ID at or above it was issued, according to the record of the tag. */
  readonly deleted_limit: string | null;
  /** Decimal: the last ID that may be issued. */
  readonly last_id: string | null;
}

export type UsableRow = AllocRow & { readonly max_id: string; readonly step: number };

export function isUsable(row: AllocRow): row is UsableRow {
  const { max_id, step } = row;
  if (max_id === null || step === null || isMarkLost(row)) return false;
  return isStep(step) && isPosition(max_id) && hasLastId(row);
}

/**
 * The condition on a row that `size` more IDs can be allocated from it.
 *
 * @param size SQL
 * @param isTag SQL: the row of `leaf_deleted_tag` is that of the tag
 */
export function allocatable(size: string, isTag: string): string {
  const last = `CASE WHEN last_id IS NULL THEN ${LAST_ID} WHEN last_id BETWEEN 1 AND ${LAST_ID} THEN last_id ELSE 0 END`;
  return `interleave_of IS NULL AND reset_every IS NULL AND step BETWEEN 1 AND ${MAX_STEP}
    AND ${HAS_POSITION} AND ${POSITION} <= ${last} - ${size} + 1
    AND ${POSITION} <= CASE WHEN issue_limit > 0 THEN issue_limit ELSE 0 END - ${size}
    AND ${POSITION} >= COALESCE((SELECT max_id FROM leaf_deleted_tag WHERE ${isTag}), 0)`;
}

/** The rows of exactly this tag: at most one, unless the table has no primary key. */
export function readRows(
  statement: Statement,
  { text, textOf, thisTag, deletedTag, key }: TagDialect,
  tag: string,
  suffix = '',
): Promise<AllocRow[]> {
  const ofRecord = (column: string): string => `(SELECT ${textOf(column)} FROM leaf_deleted_tag WHERE ${deletedTag})`;
  const sql = `SELECT ${textOf(POSITION)} AS max_id, ${HAS_POSITION} AS valid, step, max_step, ${textOf('last_id')} AS last_id,
    ${textOf('issue_limit')} AS issue_limit, ${KIND_COLUMNS}, ${ofRecord('max_id')} AS deleted,
    ${ofRecord('issue_limit')} AS deleted_limit FROM leaf_alloc WHERE ${thisTag} ${suffix}`;
  return statement(text(sql), [tag, tag, ...key(tag)]);
}

/** Whether `size` more IDs would exceed the last ID. */
export function isExhausted(row: UsableRow, size: bigint): boolean {
  return BigInt(row.max_id) > lastOf(row) + 1n - size;
}

function lastOf({ last_id }: AllocRow): bigint {
  return BigInt(last_id ?? LAST_ID);
}

/** Why an allocation changed no row. */
export function refusalOf(tag: string, size: number | undefined, row: AllocRow | undefined, others: number): LeafError {
  if (row === undefined) return unknownTag(tag);
  if (row.reset_every !== null) return periodicTag(tag);
  if (others > 0 || !isUsable(row)) {
    return new LeafError(
      'LEAF_TAG_ROW_INVALID',
      others > 0
        ? `leaf_alloc has ${others + 1} rows for the tag "${tag}". Keep the one with the highest max_id, and make biz_tag the primary key.`
        : isMarkLost(row)
          ? `The row of tag "${tag}" in leaf_alloc has the position ${row.max_id} in next_id, but max_id was changed: the Java service and earlier versions could issue its IDs. Set max_id to ${MAX_ID}, and next_id above all IDs in use.`
          : `The row of tag "${tag}" in leaf_alloc has max_id ${row.max_id ?? 'NULL'}, step ${row.step ?? 'NULL'} and last_id ${row.last_id ?? 'NULL'}. Set max_id to a whole number of at least 1, step to one from 1 to ${MAX_STEP}, and last_id to NULL or a whole number from 1 to ${LAST_ID}.`,
    );
  }
  const { max_id, step, last_id } = row;
  const count = size ?? step;
  if (isExhausted(row, BigInt(count))) return exhausted(tag, BigInt(max_id), count, last_id ?? undefined);
  return changedMeanwhile(tag);
}

/** @param max the last ID of the tag, decimal; undefined: 2^63 - 1 */
export function exhausted(tag: string, next: bigint, count: number, max: string | undefined): LeafError {
  const left = BigInt(max ?? MAX_ID - 1n) + 1n - next;
  return new TagExhaustedError(
    `Tag "${tag}" is at ${next}: ${count} more IDs would exceed its last ID, ${max ?? MAX_ID - 1n}. ${max === undefined ? 'Create a new tag.' : 'Raise its max, or create a new tag.'}`,
    left,
  );
}

export function changedMeanwhile(tag: string): LeafError {
  return new LeafError(
    'LEAF_STORE_UNAVAILABLE',
    `The row of tag "${tag}" was changed concurrently; retry the request.`,
    {
      retryAfterMs: 1000,
    },
  );
}

/** `max_id` of a row with settings was changed. SQLite and MySQL return a number, PostgreSQL a boolean. */
function isMarkLost({ max_id, valid }: AllocRow): boolean {
  return !Number(valid) && /^[1-9]/.test(max_id ?? '');
}

function isPosition(text: string): boolean {
  return /^[1-9]\d*$/.test(text);
}

function hasLastId({ last_id }: AllocRow): boolean {
  return last_id === null || (isPosition(last_id) && BigInt(last_id) <= BigInt(LAST_ID));
}

/** SQLite does not enforce column types: the step may be a string, a fraction or out of range. */
function isStep(step: number): boolean {
  return Number.isInteger(step) && step >= 1 && step <= MAX_STEP;
}
