import { type Interleave, MAX_ID, type NewTag, type TagRow, PLAIN_TAG, type TagKind } from '@leaf-ids/core';
import { InterleavedBlocks, tagKind } from '@leaf-ids/core/internal';
import type { SqlParameter } from '../connections/sql-database';
import { isHidden, POSITION, positionColumns } from '../failover/move-forward';
import { added, BIGINT, type Columns, INT, KEY, type ReadDialect, selectFrom, TEXT } from './table';

/** The columns with the settings of a tag, as the drivers return them. */
interface SettingColumns {
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

/** A row of `leaf_alloc`: a tag, or a period of one. Numbers up to 2^63 - 1 are decimal text. */
export class LeafAlloc implements SettingColumns {
  readonly biz_tag!: string;
  /** Decimal: the position, from the column that has it. */
  readonly max_id!: string;
  /** Text on MySQL, where COALESCE makes it a BIGINT. */
  readonly step!: number | string;
  readonly description!: string | null;
  readonly max_step!: number | string | null;
  readonly last_id!: string | null;
  readonly ordering!: string | null;
  readonly reset_every!: string | null;
  readonly time_zone!: string | null;
  readonly interleave_of!: number | string | null;
  readonly interleave_remainder!: number | string | null;
  readonly interleave_block!: number | string | null;
  /** Decimal: where the periods of a tag begin. */
  readonly period_start!: string | null;
  /** Decimal. Null while no server has used the row. */
  readonly issue_limit!: string | null;
  /** Of a gapless tag. */
  readonly pattern!: string | null;
  readonly reissue!: number | string | null;
  /** Unix seconds. */
  readonly updated!: number | string | null;
}

/** The columns that an INSERT writes, in their order, besides {@link NEXT_ID}. */
const INSERTED = {
  biz_tag: KEY,
  max_id: { ...BIGINT, read: ({ decimal }) => decimal(`COALESCE(${POSITION}, 0)`) },
  step: { ...INT, read: () => 'COALESCE(step, 0)' },
  description: {},
  max_step: added(INT),
  last_id: added(BIGINT),
  ordering: added(TEXT),
  reset_every: added(TEXT),
  time_zone: added(TEXT),
  interleave_of: added(INT),
  interleave_remainder: added(INT),
  interleave_block: added(INT),
  period_start: added(BIGINT),
  pattern: added(TEXT),
  reissue: added(INT),
} as const satisfies Columns;

/** Read as part of `max_id`. */
export const NEXT_ID = { next_id: added(BIGINT) } as const;

/** The columns of {@link LeafAlloc}. */
export const ALLOC: Columns = { ...INSERTED, issue_limit: added(BIGINT), updated: { read: ({ updated }) => updated } };

export const ALLOC_NAMES = Object.keys(ALLOC) as (keyof LeafAlloc)[];

/** A row as an INSERT writes it. */
export type WrittenRow = Readonly<Record<keyof typeof INSERTED | keyof typeof NEXT_ID, SqlParameter>>;

const WRITTEN = Object.entries<Columns[string]>({ ...INSERTED, ...NEXT_ID }) as [keyof WrittenRow, Columns[string]][];

/** The rest of an INSERT, from the name of the table on. */
export const INSERT_ROW = `leaf_alloc (${WRITTEN.map(([name]) => name).join(', ')})
    VALUES (${WRITTEN.map(([name]) => (name === 'description' ? "NULLIF(?, '')" : '?')).join(', ')})`;

/** The parameters of {@link INSERT_ROW}. */
export function writtenValues(row: WrittenRow): SqlParameter[] {
  return WRITTEN.map(([name]) => (name === 'description' ? (row[name] ?? '') : row[name]));
}

/**
 * The columns of a {@link WrittenRow}, each as it is stored, for a SELECT.
 *
 * @param exact returns an expression for a number up to 2^63 - 1
 */
export function writtenColumns(exact: (column: string) => string): string {
  return WRITTEN.map(([name, { width }]) => (width === 'bigint' ? `${exact(name)} AS ${name}` : name)).join(', ');
}

/** For statements of a transaction, which lock the row. */
export function select(dialect: ReadDialect): string {
  return selectFrom('leaf_alloc', ALLOC, dialect);
}

export function insertValues(tag: NewTag): SqlParameter[] {
  const { interleave, order, reset, maxId = 1n, reissue } = tag;
  // Nobody can allocate from the row of a gapless tag, whatever the version.
  const from = order === 'gapless' ? MAX_ID : positionOf(maxId, interleave);
  const [position, nextId] = positionColumns(from, isHidden(tag));
  return writtenValues({
    biz_tag: tag.tag,
    max_id: position,
    step: tag.step,
    description: tag.description ?? null,
    max_step: tag.maxStep ?? null,
    last_id: tag.max ?? null,
    ordering: order === 'relaxed' ? null : (order ?? null),
    reset_every: reset ?? null,
    time_zone: reset === undefined ? null : (tag.zone ?? 'UTC'),
    interleave_of: interleave?.of ?? null,
    interleave_remainder: interleave?.remainder ?? null,
    interleave_block: interleave?.block ?? null,
    period_start: reset === undefined && order !== 'gapless' ? null : maxId,
    pattern: tag.pattern ?? null,
    reissue: reissue === undefined ? null : Number(reissue),
    next_id: nextId,
  });
}

/** The share of a row; undefined also for one whose settings contradict each other. */
export function interleaveOf(row: LeafAlloc): Interleave | undefined {
  try {
    return kindOf(row.biz_tag, row).interleave;
  } catch {
    return undefined;
  }
}

export function toTagRow(row: LeafAlloc): TagRow {
  const { biz_tag, max_id, period_start, step, max_step, last_id, description, pattern, reissue, updated } = row;
  const kind = kindOf(biz_tag, row);
  return {
    ...kind,
    pattern: pattern ?? undefined,
    reissue: reissue === null ? undefined : Number(reissue) !== 0,
    tag: biz_tag,
    maxId: period_start === null ? idAt(BigInt(max_id), kind.interleave) : BigInt(period_start),
    step: Number(step),
    maxStep: max_step === null ? undefined : Number(max_step),
    max: last_id === null ? undefined : BigInt(last_id),
    description: description ?? undefined,
    updatedAt: Math.round(Number(updated ?? 0) * 1000),
  };
}

/** Position of the next ID in the row; of an interleaved tag, among its own IDs. */
export function positionOf(id: bigint, interleave: Interleave | undefined): bigint {
  return interleave === undefined ? id : new InterleavedBlocks(interleave).fromId(id).from;
}

/** The position of a row whose `maxId` is raised; of a tag with periods it says where lost ones begin, and may be higher. */
export function raised(stored: LeafAlloc, maxId: bigint, { reset, interleave }: TagRow): bigint {
  const position = positionOf(maxId, interleave);
  return reset !== undefined && position < BigInt(stored.max_id) ? BigInt(stored.max_id) : position;
}

export function idAt(position: bigint, interleave: Interleave | undefined): bigint {
  return interleave === undefined ? position : new InterleavedBlocks(interleave).atPosition(position).range.from;
}
