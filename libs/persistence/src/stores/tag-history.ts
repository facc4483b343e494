import { MAX_ID } from '@leaf-ids/core';
import { InterleavedBlocks } from '@leaf-ids/core/internal';
import type { SqlDatabase, SqlParameter, Statement } from '../connections/sql-database';
import type { FailoverGuard } from '../failover/failover-guard';
import { gapParameters, movedPosition, POSITION, setPosition } from '../failover/move-forward';
import { isUsable, readRows, type UsableRow } from './alloc-row';
import { positionOf, kindOf } from './stored-tag';
import type { TagDialect } from './tag-dialect';

/** Limit for a change of a few statements, in milliseconds. */
const LIMIT_MS = 5000;

/** Allocations between two extensions of a limit: one in this many takes more round trips. */
const AHEAD = 256n;
/** Below `max`, an extension takes this fraction of the IDs that are left, so that a lost row wastes few of them. */
const SHARE_OF_REST = 16n;

/** The last issued IDs of a tag, as recorded in `leaf_deleted_tag`. */
interface HistoryRow {
  /** Decimal: IDs below it were issued, or never will be. */
  readonly deleted: string;
  /** Decimal: no ID at or above it was issued; null: equal to `deleted`. */
  readonly deleted_limit: string | null;
}

/**
 * What a tag has issued, on record beside its row, so that it survives the row.
 *
 * Servers issue IDs below `issue_limit` only. Before they go beyond it, they raise it in `leaf_deleted_tag` first and
 * then in the row. A row that was inserted by hand has no limit, so that it cannot be used before {@link admit}, which
 * compares it with the record. A row below the record was restored or replaced. In both cases the newest allocations of
 * the tag are unknown, and the tag moves forward: to the recorded limit if that is proved to be above them, otherwise
 * also by the gap of a failover.
 */
export class TagHistory {
  private readonly admissions = new Map<string, Promise<boolean>>();

  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: TagDialect,
    private readonly guard: FailoverGuard,
  ) {}

  /**
   * Makes a row usable that {@link needsAdmission}, or whose tag has issued IDs below `minimum`.
   *
   * @returns whether the tag lost its history and was moved forward
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  admit(tag: string, minimum = 0n): Promise<boolean> {
    // Calls for one tag share a transaction: each would only wait for the lock of the one before.
    const key = `${tag} ${minimum}`;
    const admission =
      this.admissions.get(key) ?? this.admitOnce(tag, minimum).finally(() => this.admissions.delete(key));
    this.admissions.set(key, admission);
    return admission;
  }

  private async admitOnce(tag: string, minimum: bigint): Promise<boolean> {
    const moved = await this.database.transaction((statement) => this.admitWith(statement, tag, minimum), LIMIT_MS);
    if (moved === undefined) return false;
    this.guard.report(
      `Tag "${tag}" in ${this.database.description} lost its history: its row was deleted and inserted again, or an older row was restored. The tag was moved forward from ID ${moved.from} to ID ${moved.to}, above everything that any server may have issued.`,
    );
    return true;
  }

  /**
   * Raises the limit of a row so that the next `size` positions are below it.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async extend(tag: string, row: UsableRow, size: bigint): Promise<void> {
    const { dialect } = this;
    const limit = limitOf(row, size);
    const next = BigInt(row.max_id);
    // Well below max_id, which unused IDs that are given back lower again.
    const floor = next - (limit - next) / 2n;
    const bound = floor > 0n ? floor : 1n;
    // Not below the row: unused IDs may have been given back since it was read, and it would seem to have lost some.
    const record = `UPDATE leaf_deleted_tag SET ${this.raised} WHERE ${dialect.deletedTag}
      AND EXISTS (SELECT 1 FROM leaf_alloc WHERE ${dialect.thisTag} AND ${POSITION} >= ${dialect.number})`;
    await this.run(record, [idOf(row, tag, bound), idOf(row, tag, limit), tag, ...dialect.key(tag), bound]);
    await this.run(
      `UPDATE leaf_alloc SET issue_limit = ? WHERE ${dialect.thisTag} AND issue_limit = ?
       AND EXISTS (SELECT 1 FROM leaf_deleted_tag WHERE ${dialect.deletedTag} AND leaf_deleted_tag.issue_limit >= ?)`,
      [limit, ...dialect.key(tag), BigInt(row.issue_limit ?? 0), tag, idOf(row, tag, limit)],
    );
  }

  /**
   * Records that a deleted tag had issued IDs below `nextId`. Every tag that was used has a record: a missing one was
   * lost, and with it what other servers have issued.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async recordDeleted(tag: string, nextId: bigint): Promise<void> {
    const { steps, least } = this.guard.gap;
    const limit = min(nextId + BigInt(steps) * BigInt(least), MAX_ID);
    await this.run(this.dialect.rememberDeleted, [tag, nextId, limit]);
  }

  /** Parameters: a lower bound of the first ID that was not issued, the limit. */
  private get raised(): string {
    const { greatest, number } = this.dialect;
    return `max_id = ${greatest}(max_id, ${number}), issue_limit = ${greatest}(COALESCE(issue_limit, 0), ${number})`;
  }

  private async admitWith(
    statement: Statement,
    tag: string,
    minimum: bigint,
  ): Promise<{ from: bigint; to: bigint } | undefined> {
    const { dialect } = this;
    const write = (sql: string, parameters: SqlParameter[]): Promise<unknown> =>
      statement(dialect.text(sql), parameters);
    // The record before the row, as MySQL locks them for an allocation.
    await write(dialect.rememberDeleted, [tag, 0n, null]);
    const columns = `${dialect.textOf('max_id')} AS deleted, ${dialect.textOf('issue_limit')} AS deleted_limit`;
    const sql = `SELECT ${columns} FROM leaf_deleted_tag WHERE ${dialect.deletedTag} ${dialect.forUpdate}`;
    const [record] = await statement<HistoryRow[]>(dialect.text(sql), [tag]);
    const row = await this.lock(statement, tag);
    if (row === undefined) {
      // Otherwise the record of a server that misses the tag would be taken for the exact end of a deleted one.
      const unused = `DELETE FROM leaf_deleted_tag WHERE ${dialect.deletedTag} AND max_id = 0 AND issue_limit IS NULL`;
      await write(unused, [tag]);
      return undefined;
    }
    const found = { ...row, deleted: record?.deleted ?? null, deleted_limit: record?.deleted_limit ?? null };
    const from = idOf(row, tag, BigInt(row.max_id));
    const isBehind = from < minimum;
    if (!isBehind && !needsAdmission(tag, found)) return undefined;
    const end = max(BigInt(found.deleted ?? 0), BigInt(found.deleted_limit ?? 0));
    const isLost = isBehind || row.issue_limit !== null || from < end;
    if (isLost) {
      const position = positionOf(max(minimum, end), kindOf(tag, row).interleave);
      if (position > BigInt(row.max_id)) {
        await write(`UPDATE leaf_alloc SET ${setPosition(dialect.number)} WHERE ${dialect.thisTag}`, [
          ...[position, position],
          ...dialect.key(tag),
        ]);
      }
      if (isBehind || !isProven(tag, found)) {
        const move = `UPDATE leaf_alloc SET ${setPosition(movedPosition(dialect))} WHERE ${dialect.thisTag}`;
        const gap = gapParameters(this.guard.gap);
        await write(move, [...gap, ...gap, ...dialect.key(tag)]);
      }
    }
    const moved = (isLost ? await this.lock(statement, tag) : undefined) ?? row;
    const limit = limitOf(moved, BigInt(moved.step));
    const to = idOf(moved, tag, BigInt(moved.max_id));
    await write(`UPDATE leaf_deleted_tag SET ${this.raised} WHERE ${dialect.deletedTag}`, [
      to,
      idOf(moved, tag, limit),
      tag,
    ]);
    await write(`UPDATE leaf_alloc SET issue_limit = ?, update_time = CURRENT_TIMESTAMP WHERE ${dialect.thisTag}`, [
      limit,
      ...dialect.key(tag),
    ]);
    return isLost && (isBehind || !isExact(found)) ? { from, to } : undefined;
  }

  private async lock(statement: Statement, tag: string): Promise<UsableRow | undefined> {
    const [row] = await readRows(statement, this.dialect, tag, this.dialect.forUpdate);
    return row !== undefined && isUsable(row) ? row : undefined;
  }

  private async run(sql: string, parameters: SqlParameter[]): Promise<void> {
    await this.database.run(this.dialect.text(sql), parameters);
  }
}

/** Whether {@link TagHistory.admit} has to look at the row before it is used. */
export function needsAdmission(tag: string, row: UsableRow): boolean {
  if (row.issue_limit === null || row.deleted_limit === null) return true;
  return idOf(row, tag, BigInt(row.max_id)) < BigInt(row.deleted ?? 0);
}

/** Whether servers must raise the limit of the row before they use its next `size` positions. */
export function isBeyondLimit(row: UsableRow, size: bigint): boolean {
  return BigInt(row.max_id) + size > BigInt(row.issue_limit ?? 0);
}

/** The largest limit that is worth its round trips. The row keeps it as a position, like `max_id`. */
function limitOf(row: UsableRow, size: bigint): bigint {
  const next = BigInt(row.max_id);
  const rest = BigInt(row.last_id ?? MAX_ID - 1n) + 1n - next;
  const usual = AHEAD * max(size, BigInt(row.interleave_block ?? row.step));
  const wanted = max(size, row.last_id === null ? usual : min(usual, rest / SHARE_OF_REST));
  return next + max(0n, min(wanted, rest));
}

/**
 * Whether no ID at or above the record was issued. Other software may allocate from rows without `max`, without raising
 * the limit; but not from a tag that Leaf has deleted.
 */
function isProven(tag: string, row: UsableRow): boolean {
  return isExact(row) || (row.issue_limit === null && (row.last_id !== null || tag.includes('@')));
}

/** Whether the record says where a deleted tag ended, to the ID. */
function isExact({ issue_limit, deleted, deleted_limit }: UsableRow): boolean {
  return issue_limit === null && BigInt(deleted_limit ?? 0) <= BigInt(deleted ?? 0);
}

/** The first ID at or above a position of the row. */
function idOf(row: UsableRow, tag: string, position: bigint): bigint {
  const { interleave } = kindOf(tag, row);
  if (interleave === undefined) return position;
  return min(new InterleavedBlocks(interleave).atPosition(position).range.from, MAX_ID);
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
