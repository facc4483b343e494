import { LeafError, MAX_ID, periodRow, tagOfRow } from '@leaf-ids/core';
import { MAX_TAG } from '@leaf-ids/core/internal';
import type { SqlDatabase, SqlParameter, Statement } from '../connections/sql-database';
import { type Gap, POSITION, setPosition } from '../failover/move-forward';
import type { DatabaseNames } from './database-names';
import { writtenColumns, type WrittenRow, writtenValues } from './stored-tag';
import { FROZEN, type TagDialect } from './tag-dialect';

const IS_FROZEN = `biz_tag LIKE '${FROZEN}%'`;

/** A row of `leaf_alloc`, whole. */
interface WholeRow extends WrittenRow {
  readonly biz_tag: string;
  readonly position: string;
  readonly issue_limit: string | null;
}

interface WholeRecord {
  readonly biz_tag: string;
  readonly max_id: string;
  readonly issue_limit: string | null;
}

/** Everything that a database knows of the tags that it hands over. */
export interface HandedOver {
  /** Frozen rows, under their former names. */
  readonly rows: readonly WholeRow[];
  /** Records of `leaf_deleted_tag`. */
  readonly records: readonly WholeRecord[];
  /** Time at which the database last moved its tags forward, in Unix seconds. */
  readonly failedOver: number;
}

type ListedRow = Pick<WholeRow, 'biz_tag' | 'interleave_of' | 'ordering'>;

/** The key of one row. */
interface Picked {
  readonly name?: string;
  readonly condition?: string;
  readonly values?: SqlParameter[];
}

/** The rows of one database that move to another one, with their position, settings and records. */
export class TagRows {
  constructor(
    readonly database: SqlDatabase,
    private readonly dialect: TagDialect,
    private readonly names: DatabaseNames,
  ) {}

  /** The rows that are not frozen, or those of one tag. */
  list(tag?: string, statement: Statement = this.statement, suffix = ''): Promise<ListedRow[]> {
    const sql = `SELECT biz_tag, interleave_of, ordering FROM leaf_alloc WHERE NOT ${IS_FROZEN}`;
    return this.pick<ListedRow>(statement, sql, { ...this.rowOf(tag), suffix });
  }

  /**
   * As {@link list}; their names.
   *
   * @throws LeafError `LEAF_TAG_ROW_INVALID` for a row that cannot move
   */
  async movable(tag?: string, statement: Statement = this.statement, suffix = ''): Promise<string[]> {
    const rows = await this.list(tag, statement, suffix);
    for (const { biz_tag, interleave_of, ordering } of rows) {
      if (interleave_of !== null) throw interleaved(biz_tag);
      if (ordering === 'gapless') throw journalHere(biz_tag);
      if (biz_tag.length >= MAX_TAG) throw tooLong(biz_tag);
    }
    return rows.map(({ biz_tag }) => biz_tag);
  }

  /**
   * Ends all allocation from the database, or from one tag: renames every row. What an allocation or a new period has
   * under way ends before, and is seen.
   *
   * @param statement of a transaction in which no tag can be created
   * @throws LeafError `LEAF_TAG_ROW_INVALID` for a row that cannot be renamed
   */
  async freeze(statement: Statement, tag?: string): Promise<void> {
    const { text, thisTag, key, forUpdate } = this.dialect;
    const rename = text(`UPDATE leaf_alloc SET biz_tag = ? WHERE ${thisTag}`);
    // Rows of periods that began while the rows of their tags were being locked are in the next round.
    const renamed = new Set<string>();
    for (let rows = await this.movable(tag, statement, forUpdate); rows.length > 0;) {
      for (const row of rows) {
        if (renamed.has(row)) throw unchangeable(row, this.database.description);
        renamed.add(row);
        await statement(rename, [FROZEN + row, ...key(row)]);
      }
      rows = await this.movable(tag, statement, forUpdate);
    }
  }

  /** All frozen rows and all records, or those of one tag. */
  async handedOver(statement: Statement = this.statement, tag?: string): Promise<HandedOver> {
    const { textOf, text, updated } = this.dialect;
    const rows = await this.pick<WholeRow>(
      statement,
      `SELECT ${writtenColumns(textOf)}, ${textOf('issue_limit')} AS issue_limit, ${textOf(POSITION)} AS position
       FROM leaf_alloc WHERE ${IS_FROZEN}`,
      this.rowOf(tag, FROZEN),
    );
    const records = await this.pick<WholeRecord>(
      statement,
      `SELECT biz_tag, ${textOf('max_id')} AS max_id, ${textOf('issue_limit')} AS issue_limit FROM leaf_deleted_tag WHERE 1 = 1`,
      tag === undefined ? {} : { name: tag, condition: this.dialect.deletedTag, values: [tag] },
    );
    const sql = `SELECT ${updated} AS updated FROM leaf_segment_server WHERE id = 1`;
    const [server] = await statement<{ updated: number | string }[]>(text(sql));
    const named = rows.map((row) => ({ ...row, biz_tag: row.biz_tag.slice(FROZEN.length) }));
    return { rows: named, records, failedOver: Number(server?.updated ?? 0) };
  }

  /**
   * Takes over tags with the rows of their periods. Repeatable: a row that is here already is raised to the position.
   *
   * @throws LeafError `LEAF_TAG_EXISTS` when the collation of the table equals two names; `LEAF_STORE_UNAVAILABLE` when
   *   this database was taken out of the list, too
   */
  async takeOver({ rows, records, failedOver }: HandedOver): Promise<void> {
    await this.database.transaction(async (statement) => {
      await this.names.assertNotLeft(statement, this.dialect.forUpdate);
      // The records before the rows, as everywhere.
      for (const record of records) await this.takeRecord(record, statement);
      for (const row of rows) await this.takeRow(row, statement);
      if (!rows.some(wasMoved)) return;
      const { text, updated, number } = this.dialect;
      const sql = `UPDATE leaf_segment_server SET update_time = CURRENT_TIMESTAMP WHERE id = 1 AND ${updated} < ${number}`;
      await statement(text(sql), [Math.ceil(failedOver)]);
    }, MOVE_LIMIT_MS);
  }

  /** Deletes frozen rows that another database has taken over. Their records stay, and a repetition hands them over. */
  async forget(rows: readonly WholeRow[]): Promise<void> {
    for (const { biz_tag } of rows) await this.statement(this.deleteRow, this.dialect.key(FROZEN + biz_tag));
  }

  /**
   * As {@link forget}, of a tag that another database of the same list has from now on, and leaves its end on record as
   * a deletion does: should that database lose the tag, it cannot start over. A plain tag without a `max` would then
   * begin above the gap, because the other database may have issued some of it.
   */
  async handOff(rows: readonly WholeRow[], gap: Gap): Promise<void> {
    await this.database.transaction(async (statement) => {
      for (const row of rows) {
        const position = BigInt(row.position);
        const name = row.reset_every === null ? row.biz_tag : periodRow(row.biz_tag, '');
        const isPlain = name === tagOfRow(row.biz_tag) && row.last_id === null;
        const steps = Math.max(Number(row.step), Number(row.max_step ?? 0), gap.least);
        const end = isPlain ? position + BigInt(gap.steps) * BigInt(steps) : position;
        const limit = String(end < MAX_ID ? end : MAX_ID);
        await this.takeRecord({ biz_tag: name, max_id: row.position, issue_limit: limit }, statement);
        await statement(this.deleteRow, this.dialect.key(FROZEN + row.biz_tag));
      }
    }, MOVE_LIMIT_MS);
  }

  private get deleteRow(): string {
    return this.dialect.text(`DELETE FROM leaf_alloc WHERE ${this.dialect.thisTag}`);
  }

  private rowOf(tag: string | undefined, prefix = ''): Picked {
    if (tag === undefined) return {};
    const { thisTag, key } = this.dialect;
    return { name: prefix + tag, condition: thisTag, values: key(prefix + tag) };
  }

  /** All rows; with a name, that row and those of its periods, by the key. LIKE ignores letter case on some databases. */
  private async pick<Row extends { readonly biz_tag: string }>(
    statement: Statement,
    sql: string,
    { name, condition, values, suffix = '' }: Picked & { readonly suffix?: string },
  ): Promise<Row[]> {
    const { text } = this.dialect;
    if (name === undefined) return statement<Row[]>(text(`${sql} ${suffix}`));
    const periods = periodRow(name, '');
    const like = [`${periods.replaceAll('_', '!_')}%`];
    const [own, others] = [
      await statement<Row[]>(text(`${sql} AND ${condition} ${suffix}`), values),
      await statement<Row[]>(text(`${sql} AND biz_tag LIKE ? ESCAPE '!' ${suffix}`), like),
    ];
    return [...own, ...others.filter(({ biz_tag }) => biz_tag.startsWith(periods))];
  }

  private readonly statement: Statement = (sql, parameters = []) => this.database.run(sql, parameters);

  private async takeRecord({ biz_tag, max_id, issue_limit }: WholeRecord, statement: Statement): Promise<void> {
    const { text, rememberDeleted, deletedTag, greatest, number } = this.dialect;
    await statement(text(rememberDeleted), [biz_tag, BigInt(max_id), null]);
    if (issue_limit === null) return;
    const limit = `${greatest}(COALESCE(issue_limit, 0), ${number})`;
    const sql = `UPDATE leaf_deleted_tag SET issue_limit = ${limit} WHERE ${deletedTag}`;
    await statement(text(sql), [BigInt(issue_limit), biz_tag]);
  }

  private async takeRow(row: WholeRow, statement: Statement): Promise<void> {
    const { text, insertTag, inserted, thisTag, key, number, forUpdate } = this.dialect;
    const answer = await statement(text(insertTag), writtenValues(row));
    if (inserted(answer)) {
      const limit = text(`UPDATE leaf_alloc SET issue_limit = ? WHERE ${thisTag}`);
      await statement(limit, [row.issue_limit, ...key(row.biz_tag)]);
      return;
    }
    const same = await statement<unknown[]>(
      text(`SELECT 1 FROM leaf_alloc WHERE ${thisTag} ${forUpdate}`),
      key(row.biz_tag),
    );
    if (same.length === 0) throw equalNames(row.biz_tag, this.database.description);
    const raise = `UPDATE leaf_alloc SET ${setPosition(number)} WHERE ${thisTag} AND ${POSITION} < ${number}`;
    const position = BigInt(row.position);
    await statement(text(raise), [position, position, ...key(row.biz_tag), position]);
  }
}

/** Limit for one tag with all its periods, in milliseconds. */
const MOVE_LIMIT_MS = 60_000;

/** Tag → what is handed over of it. */
export function byTag({ rows, records, failedOver }: HandedOver): Map<string, HandedOver> {
  const tags = new Set([...rows, ...records].map(({ biz_tag }) => tagOfRow(biz_tag)));
  const groups = new Map([...tags].map((tag) => [tag, { rows: [] as WholeRow[], records: [] as WholeRecord[] }]));
  for (const row of rows) groups.get(tagOfRow(row.biz_tag))?.rows.push(row);
  for (const record of records) groups.get(tagOfRow(record.biz_tag))?.records.push(record);
  return new Map([...groups].map(([tag, group]) => [tag, { ...group, failedOver }]));
}

/**
 * Whether a failover moved a tag with periods: those that it may have lost begin above the gap. That depends on the time
 * of the failover, so the new database must not seem to have had an earlier one.
 */
function wasMoved({ reset_every, period_start, position }: WholeRow): boolean {
  return reset_every !== null && period_start !== position;
}

function journalHere(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `Tag "${tag}" is gapless, and the journal of its numbers is in this database: it cannot move. Assign the tag to this database in the option segment.database.shards.tags.`,
  );
}

function interleaved(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `Tag "${tag}" is interleaved, and no other database can issue the blocks of its share here. Nothing was changed. Issue IDs of a new tag instead; then delete "${tag}" with DELETE /api/tags/${tag}, while all databases of the list are up, and run the command again.`,
  );
}

function tooLong(row: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The row "${row}" cannot be moved: its name has more than ${MAX_TAG - 1} characters. Nothing was changed. Issue IDs of a new tag with a shorter name instead, delete this one with DELETE /api/tags/${tagOfRow(row)}, and run the command again.`,
  );
}

function unchangeable(row: string, description: string): LeafError {
  return new LeafError(
    'LEAF_TAG_ROW_INVALID',
    `The row "${row}" of leaf_alloc in ${description} cannot be moved: an UPDATE by its name does not change it. Nothing was changed. If its name is not a valid tag, Leaf has never issued IDs of it: delete the row. Otherwise remove the triggers of the table. Then run the command again.`,
  );
}

function equalNames(row: string, description: string): LeafError {
  return new LeafError(
    'LEAF_TAG_EXISTS',
    `The row "${row}" cannot be moved to ${description}: the collation of its table treats another name as equal. Compare bytes there: ALTER TABLE leaf_alloc MODIFY biz_tag varchar(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT ''. Then run the command again; until then, the tag is refused.`,
  );
}
