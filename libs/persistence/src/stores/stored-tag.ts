import type { Interleave, NewTag, TagRow } from '@leaf-ids/core';
import { InterleavedBlocks } from '@leaf-ids/core/internal';
import type { SqlParameter } from '../connections/sql-database';
import { KIND_COLUMNS, kindOf, type SettingColumns } from './setting-columns';
import type { TagDialect } from './tag-dialect';

/** A row of `leaf_alloc`, as a tag store reads it. */
export interface StoredRow extends SettingColumns {
  readonly biz_tag: string;
  /** Decimal: JavaScript numbers are exact to 2^53 only. */
  readonly max_id: string;
  /** Decimal: where the periods of a tag begin. */
  readonly period_start: string | null;
  /** Text on MySQL, where COALESCE makes it a BIGINT. */
  readonly step: number | string;
  readonly description: string | null;
  /** Unix seconds. */
  readonly updated: number | string | null;
}

export function select({ maxIdText, lastIdText, periodStartText, updated }: TagDialect): string {
  return `SELECT biz_tag, ${maxIdText} AS max_id, ${periodStartText} AS period_start, COALESCE(step, 0) AS step, max_step, ${lastIdText} AS last_id,
    ${KIND_COLUMNS}, description, ${updated} AS updated FROM leaf_alloc`;
}

/** In the order of {@link TagDialect.insertTag}. */
export function insertValues(tag: NewTag): SqlParameter[] {
  const { interleave, order, reset } = tag;
  return [
    ...[
      tag.tag,
      positionOf(tag.maxId ?? 1n, interleave),
      tag.step,
      tag.description ?? '',
      tag.maxStep ?? null,
      tag.max ?? null,
    ],
    ...[order === 'strict' ? order : null, reset ?? null, reset === undefined ? null : (tag.zone ?? 'UTC')],
    ...[interleave?.of ?? null, interleave?.remainder ?? null, interleave?.block ?? null],
    reset === undefined ? null : (tag.maxId ?? 1n),
  ];
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

/** What a row holds of the ID that is given next: of an interleaved tag, the place among its own IDs. */
export function positionOf(id: bigint, interleave: Interleave | undefined): bigint {
  return interleave === undefined ? id : new InterleavedBlocks(interleave).fromId(id).from;
}

/** `max_id` of a row whose `maxId` is raised; of a tag with periods it says where lost ones begin, and may be higher. */
export function raised(stored: StoredRow, maxId: bigint, { reset, interleave }: TagRow): bigint {
  const position = positionOf(maxId, interleave);
  return reset !== undefined && position < BigInt(stored.max_id) ? BigInt(stored.max_id) : position;
}

function idAt(position: bigint, interleave: Interleave | undefined): bigint {
  return interleave === undefined ? position : new InterleavedBlocks(interleave).atPosition(position).range.from;
}
