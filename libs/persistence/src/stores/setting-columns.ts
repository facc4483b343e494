import { type Interleave, PLAIN_TAG, type TagKind } from '@leaf-ids/core';
import type { SqlParameter } from '../connections/sql-database';
import { tagKind } from '@leaf-ids/core/internal';

/** The columns with the settings of a tag, as the drivers return them. */
export interface SettingColumns {
  readonly max_step: number | string | null;
  /** Decimal. */
  readonly last_id: string | null;
  readonly ordering: string | null;
  readonly reset_every: string | null;
  readonly time_zone: string | null;
  readonly interleave_of: number | string | null;
  readonly interleave_remainder: number | string | null;
  readonly interleave_block: number | string | null;
}

/** The columns that {@link kindOf} reads. */
export const KIND_NAMES = [
  'ordering',
  'reset_every',
  'time_zone',
  'interleave_of',
  'interleave_remainder',
  'interleave_block',
] as const;
export const KIND_COLUMNS = KIND_NAMES.join(', ');

export type KindColumns = Pick<SettingColumns, (typeof KIND_NAMES)[number]>;

/** @throws LeafError `LEAF_TAG_ROW_INVALID` */
export function kindOf(tag: string, columns: KindColumns): TagKind {
  const { ordering, reset_every, time_zone, interleave_of, interleave_remainder, interleave_block } = columns;
  if (ordering === null && reset_every === null && interleave_of === null) return PLAIN_TAG;
  return tagKind(tag, {
    order: ordering ?? 'relaxed',
    reset: reset_every ?? undefined,
    zone: time_zone ?? undefined,
    interleave:
      interleave_of === null
        ? undefined
        : {
            of: Number(interleave_of),
            remainder: Number(interleave_remainder ?? NaN),
            block: Number(interleave_block ?? NaN),
          },
  });
}

/** The condition that a row is this share of an interleaved tag; undefined: a tag that is not interleaved. */
export function shareCondition(interleave: Interleave | undefined): { condition: string; values: SqlParameter[] } {
  if (interleave === undefined) return { condition: 'interleave_of IS NULL', values: [] };
  const { of, remainder, block } = interleave;
  return {
    condition: 'interleave_of = ? AND interleave_remainder = ? AND interleave_block = ?',
    values: [of, remainder, block],
  };
}
