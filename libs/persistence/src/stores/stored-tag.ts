import type { Interleave, NewTag, TagRow } from '@leaf-ids/core';
import { InterleavedBlocks } from '@leaf-ids/core/internal';
import type { SqlParameter } from '../connections/sql-database';
import { KIND_COLUMNS, kindOf, type SettingColumns } from './setting-columns';
import { isHidden, POSITION, positionColumns } from '../failover/move-forward';
import type { TagDialect } from './tag-dialect';

/** A row of `leaf_alloc`, as a tag store reads it. */
export interface StoredRow extends SettingColumns {
  readonly biz_tag: string;
  /** Decimal: the position, from the column that has it. */
  readonly max_id: string;
  /** Decimal: where the periods of a tag begin. */
  readonly period_start: string | null;
  /** Null while no server has used the row. */
  readonly issue_limit: string | null;
  /** Text on MySQL, where COALESCE makes it a BIGINT. */
  readonly step: number | string;
  readonly description: string | null;
  /** Unix seconds. */
  readonly updated: number | string | null;
}

export function select({ decimal, updated }: TagDialect): string {
  return `SELECT biz_tag, ${decimal(`COALESCE(${POSITION}, 0)`)} AS max_id, ${decimal('period_start')} AS period_start,
    ${decimal('issue_limit')} AS issue_limit, COALESCE(step, 0) AS step, max_step, ${decimal('last_id')} AS last_id,
    ${KIND_COLUMNS}, description, ${updated} AS updated FROM leaf_alloc`;
}

/** Values in the order of {@link TagDialect.insertTag}. */
export function insertValues(tag: NewTag): SqlParameter[] {
  const { interleave, order, reset } = tag;
  const [maxId, nextId] = positionColumns(positionOf(tag.maxId ?? 1n, interleave), isHidden(tag));
  return [
    ...[tag.tag, maxId, tag.step, tag.description ?? '', tag.maxStep ?? null, tag.max ?? null],
    ...[order === 'strict' ? order : null, reset ?? null, reset === undefined ? null : (tag.zone ?? 'UTC')],
    ...[interleave?.of ?? null, interleave?.remainder ?? null, interleave?.block ?? null],
    ...[reset === undefined ? null : (tag.maxId ?? 1n), nextId],
  ];
}

/** The share of a row; undefined also for one whose settings contradict each other. */
export function interleaveOf(row: StoredRow): Interleave | undefined {
  try {
    return kindOf(row.biz_tag, row).interleave;
  } catch {
    return undefined;
  }
}

export function toTagRow(row: StoredRow): TagRow {
  const { biz_tag, max_id, period_start, step, max_step, last_id, description, updated } = row;
  const kind = kindOf(biz_tag, row);
  return {
    ...kind,
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
export function raised(stored: StoredRow, maxId: bigint, { reset, interleave }: TagRow): bigint {
  const position = positionOf(maxId, interleave);
  return reset !== undefined && position < BigInt(stored.max_id) ? BigInt(stored.max_id) : position;
}

export function idAt(position: bigint, interleave: Interleave | undefined): bigint {
  return interleave === undefined ? position : new InterleavedBlocks(interleave).atPosition(position).range.from;
}
