import { LeafError, MAX_ID } from '@leaf-ids/core';
import { MAX_STEP, periodicTag, TagExhaustedError, unknownTag } from '@leaf-ids/core/internal';
import type { KindColumns } from './setting-columns';

/** The row of a tag, read after an allocation changed no row. */
export interface AllocRow extends KindColumns {
  /** Decimal: the position of the row, from the column that has it. */
  readonly max_id: string | null;
  /** {@link HAS_POSITION}; 0 or NULL when the columns contradict each other. */
  readonly valid: number | boolean | null;
  readonly step: number | null;
  readonly max_step: number | null;
  /** Decimal: the first unallocated ID of a deleted tag with this name. */
  readonly deleted: string | null;
  /** Decimal: the last ID that may be issued. */
  readonly last_id: string | null;
}

export type UsableRow = AllocRow & { readonly max_id: string; readonly step: number };

export function isUsable(row: AllocRow): row is UsableRow {
  return (
    row.max_id !== null && row.step !== null && isStep(row.step) && /^[1-9]\d*$/.test(row.max_id) && !isMarkLost(row)
  );
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
          : `The row of tag "${tag}" in leaf_alloc has max_id ${row.max_id ?? 'NULL'} and step ${row.step ?? 'NULL'}. Set max_id to a whole number of at least 1, and step to one from 1 to ${MAX_STEP}.`,
    );
  }
  const { max_id, step, deleted, last_id } = row;
  const count = size ?? step;
  const next = BigInt(deleted ?? 0) > BigInt(max_id) ? BigInt(deleted ?? 0) : BigInt(max_id);
  const last = BigInt(last_id ?? MAX_ID - 1n);
  if (next > last + 1n - BigInt(count)) return exhausted(tag, next, count, last_id ?? undefined);
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

/** SQLite does not enforce column types: the step may be a string, a fraction or out of range. */
function isStep(step: number): boolean {
  return Number.isInteger(step) && step >= 1 && step <= MAX_STEP;
}
