import {
  assertNewTag,
  assertTagChange,
  LeafError,
  MAX_ID,
  type NewTag,
  periodRow,
  type TagChange,
  type TagPage,
  type TagReset,
  type TagRow,
  TagStore,
} from '@leaf-ids/core';
import { assertPattern, isOrdered, unknownTag } from '@leaf-ids/core/internal';
import type { SqlDatabase, SqlParameter, Statement } from '../connections/sql-database';
import { MOVE_GENERATIONS } from '../failover/failover-guard';
import { isHidden, positionColumns, WITHOUT_ROW } from '../failover/move-forward';
import { type DatabaseNames, aloneFault } from './database-names';
import { LeafDeletedTag } from './entities';
import { ALLOC_NAMES, insertValues, type LeafAlloc, positionOf, raised, select, toTagRow } from './stored-tag';
import { FROZEN, historyEnd, type TagDialect } from './tag-dialect';
import { TagReads, AllocReads } from './tag-reads';

/** Limit for a change of a few statements, in milliseconds. */
const CHANGE_LIMIT_MS = 5000;

/** Rows of one query. SQLite reads them in one turn of the event loop, in which ID requests wait. */
const PAGE = 50;

/**
 * Reads the first unallocated ID of a deleted tag with the name in all other databases; undefined: none. It is called
 * within the transaction, after the INSERT: a tag that moves meanwhile is seen in one of the databases.
 */
type Elsewhere = () => Promise<bigint | undefined>;

/** Administers the rows of `leaf_alloc` and `leaf_deleted_tag`. */
export class SqlTagStore extends TagStore {
  private readonly reads: TagReads;
  private readonly rows: AllocReads<keyof LeafAlloc>;

  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: TagDialect,
    private readonly names: DatabaseNames,
  ) {
    super();
    this.reads = new TagReads(database.connections);
    this.rows = new AllocReads(database, dialect, ALLOC_NAMES);
  }

  list(page: TagPage = {}): Promise<TagRow[]> {
    return this.readPages(page, (name) => name);
  }

  /** As {@link list}, in the order of {@link compareNames}, which takes the database longer: no index has it. */
  listByBytes(page: TagPage): Promise<TagRow[]> {
    return this.readPages(page, this.dialect.bytesOf);
  }

  find(tag: string): Promise<TagRow | undefined> {
    return this.reads.run(JSON.stringify(tag), () => this.current(tag));
  }

  /** As {@link find}, for changes, which do not wait for readers. */
  async current(tag: string): Promise<TagRow | undefined> {
    const row = await this.rows.find(tag);
    return row && toTagRow(row);
  }

  /**
   * @throws LeafError as {@link TagStore.create}, and `LEAF_STORE_UNAVAILABLE` on a database that was one of several
   */
  async create(tag: NewTag): Promise<TagRow> {
    const fault = aloneFault(await this.names.list());
    if (fault !== undefined) throw new LeafError('LEAF_STORE_UNAVAILABLE', fault);
    return this.createAbove(tag);
  }

  /**
   * As {@link create}, on a database that is one of several, and has not been taken out of the list.
   *
   * @param elsewhere see {@link Elsewhere}
   */
  async createAbove(tag: NewTag, elsewhere: Elsewhere = () => Promise.resolve(undefined)): Promise<TagRow> {
    assertNewTag(tag);
    assertPattern(tag);
    return this.database.transaction((statement) => this.insert(tag, elsewhere, statement), CHANGE_LIMIT_MS);
  }

  /** @throws LeafError `LEAF_TAG_EXISTS` while the tag is on its way to another database */
  async assertNotMoving(
    tag: string,
    statement: Statement = (sql, values) => this.database.run(sql, values ?? []),
  ): Promise<void> {
    const { text, thisTag, key, forUpdate } = this.dialect;
    const sql = text(`SELECT 1 FROM leaf_alloc WHERE ${thisTag} ${forUpdate}`);
    if ((await statement<unknown[]>(sql, key(FROZEN + tag))).length > 0) throw moving(tag, this.database.description);
  }

  /** Whether the database has a tag or a deleted tag. */
  async isUsed(): Promise<boolean> {
    for (const table of ['leaf_alloc', 'leaf_deleted_tag']) {
      if ((await this.database.run<unknown[]>(`SELECT 1 FROM ${table} LIMIT 1`, [])).length > 0) return true;
    }
    return false;
  }

  /** The first unallocated ID of a deleted tag with this name; undefined if there is none. */
  async deleted({ tag, reset, interleave }: NewTag): Promise<bigint | undefined> {
    const statement: Statement = (sql, parameters = []) => this.database.run(sql, parameters);
    return (await this.readHistory(deletedName(tag, reset), statement, interleave?.of))?.end;
  }

  async change(tag: string, change: TagChange): Promise<{ readonly before: TagRow; readonly after: TagRow }> {
    assertTagChange(change);
    return this.database.transaction(async (statement) => {
      // The record before the row, as TagHistory locks them.
      const history = change.maxId === undefined ? undefined : await this.readHistory(tag, statement);
      const stored = await this.lock(tag, statement);
      const before = toTagRow(stored);
      const { maxId, step, description, maxStep = before.maxStep, max = before.max } = change;
      assertTagChange({ step: step ?? before.step, maxStep });
      if (max !== undefined && max !== null && before.interleave !== undefined) throw notWithInterleave(tag);
      if (maxId !== undefined && before.order === 'gapless') throw fixedStart(tag);
      if (maxId !== undefined && maxId < before.maxId) throw backwards(tag, before.maxId, maxId);
      // The row went back: above the record it would look as if it had not.
      const hasLost = before.reset === undefined && history !== undefined && before.maxId < history.issued;
      if (hasLost && maxId !== undefined && maxId < history.end) throw backwards(tag, history.end, maxId);
      const position =
        maxId === undefined || maxId === before.maxId ? BigInt(stored.max_id) : raised(stored, maxId, before);
      const update = `UPDATE leaf_alloc SET max_id = ?, next_id = ?, period_start = ?, step = ?, max_step = ?, last_id = ?,
        description = NULLIF(?, ''), update_time = CURRENT_TIMESTAMP
        WHERE ${this.dialect.thisTag}`;
      const limits = [step ?? before.step, maxStep ?? null, max ?? null];
      await statement(this.dialect.text(update), [
        ...positionColumns(position, isHidden({ ...before, max })),
        stored.period_start === null ? null : (maxId ?? before.maxId),
        ...limits,
        description ?? before.description ?? '',
        ...this.dialect.key(tag),
      ]);
      if (before.reset !== undefined) await this.changePeriods(tag, limits, statement);
      return { before, after: toTagRow(await this.lock(tag, statement)) };
    }, CHANGE_LIMIT_MS);
  }

  remove(tag: string): Promise<TagRow> {
    return this.database.transaction(async (statement) => {
      const { text, deletedTag, forUpdate } = this.dialect;
      // The record before the row, as TagHistory locks them.
      await statement(text(`SELECT max_id FROM leaf_deleted_tag WHERE ${deletedTag} ${forUpdate}`), [tag]);
      const stored = await this.lock(tag, statement);
      const row = toTagRow(stored);
      if (row.order === 'gapless') await this.removeHeads(tag, statement);
      else await this.recordEnd(row, stored, statement);
      await statement(this.dialect.text(`DELETE FROM leaf_alloc WHERE ${this.dialect.thisTag}`), this.dialect.key(tag));
      return row;
    }, CHANGE_LIMIT_MS);
  }

  private async recordEnd({ tag, reset, maxId }: TagRow, stored: LeafAlloc, statement: Statement): Promise<void> {
    const { text, rememberDeleted, deletedTag } = this.dialect;
    const next = reset === undefined ? maxId : BigInt(stored.max_id);
    const name = deletedName(tag, reset);
    await statement(text(rememberDeleted), [name, next, null]);
    if (stored.issue_limit === null) return;
    // The row is locked, and nothing above it was issued, unless it was restored and is behind the record.
    const end = `UPDATE leaf_deleted_tag SET issue_limit = max_id WHERE ${deletedTag} AND max_id <= ?`;
    await statement(text(end), [name, next]);
  }

  /** Applies the limits to the rows of the periods. LIKE uses the key, but ignores letter case on some databases. */
  private async changePeriods(tag: string, limits: SqlParameter[], statement: Statement): Promise<void> {
    const rows = periodRow(tag, '');
    const { bytesOf } = this.dialect;
    const update = `UPDATE leaf_alloc SET step = ?, max_step = ?, last_id = ?
      WHERE biz_tag LIKE ? ESCAPE '!' AND ${bytesOf('SUBSTR(biz_tag, 1, ?)')} = ${bytesOf('?')}`;
    const like = `${rows.replaceAll('_', '!_')}%`;
    await statement(this.dialect.text(update), [...limits, like, rows.length, rows]);
  }

  private async readPages({ after, limit = Infinity }: TagPage, nameOf: (text: string) => string): Promise<TagRow[]> {
    const rows: TagRow[] = [];
    for (;;) {
      const size = Math.min(PAGE, limit - rows.length);
      const last = rows.at(-1)?.tag ?? after;
      const key = JSON.stringify([nameOf(''), last, size]);
      // Converted once for all who share the read.
      const page = await this.reads.run(key, async () => (await this.rows.page(last, size, nameOf)).map(toTagRow));
      rows.push(...page);
      if (page.length < size || rows.length >= limit) return rows;
      await this.database.yieldToEventLoop();
    }
  }

  /**
   * The INSERT locks the key: until the end of the transaction, no other transaction creates or deletes a tag with this
   * name. The record of a deleted tag is read after the INSERT, because an INSERT that waited for a deletion would not
   * see its record.
   */
  private async insert(newTag: NewTag, elsewhere: Elsewhere, statement: Statement): Promise<TagRow> {
    const { dialect } = this;
    const { tag, maxId = 1n, reset, description } = newTag;
    await this.names.assertNotLeft(statement, dialect.forUpdate);
    const inserted = await statement(dialect.text(dialect.insertTag), insertValues(newTag));
    if (!dialect.inserted(inserted)) throw await this.existing(tag, statement);
    // Before the others: what has left this database is seen there.
    await this.assertNotMoving(tag, statement);
    const history = await this.readHistory(deletedName(tag, reset), statement, newTag.interleave?.of);
    const deleted = highest(history?.end, await elsewhere());
    if (deleted !== undefined) assertAfterDeleted(newTag, deleted);
    if (deleted !== undefined && deleted > maxId) {
      const sql = dialect.text(`UPDATE leaf_alloc SET max_id = ?, next_id = ? WHERE ${dialect.thisTag}`);
      const columns = positionColumns(positionOf(deleted, newTag.interleave), isHidden(newTag));
      await statement(sql, [...columns, ...dialect.key(tag)]);
    }
    if (newTag.order === 'gapless') await this.insertHead(tag, maxId, statement);
    const row = toTagRow(await this.lock(tag, statement));
    // INSERT IGNORE replaces characters that the table cannot store with question marks.
    if ((row.description ?? '') === (description ?? '')) return row;
    throw new LeafError(
      'LEAF_BODY_INVALID',
      `The database cannot store the description of tag "${tag}": the character set of the table lacks some of its characters. Convert the table to utf8mb4, or change the description.`,
    );
  }

  /** Where the numbers of a gapless tag begin, and that nothing is lost so far; keeps what a row deleted by hand left. */
  private async insertHead(tag: string, first: bigint, statement: Statement): Promise<void> {
    const { text, number, insertMissing } = this.dialect;
    const generation = 'COALESCE(MAX(generation), 0)';
    const epoch = `(${generation} - ${generation} % ${MOVE_GENERATIONS}) / ${MOVE_GENERATIONS}`;
    const into = `INTO leaf_number_head (biz_tag, period, next_number, position, hash, issued_at, epoch, continued)
      SELECT ?, '', ${number}, 0, '', 0, ${epoch}, 0 FROM leaf_segment_server WHERE 1 = 1`;
    await statement(text(insertMissing(into)), [tag, first]);
  }

  /** @throws LeafError `LEAF_TAG_GAPLESS` for a tag with numbers */
  private async removeHeads(tag: string, statement: Statement): Promise<void> {
    const { text } = this.dialect;
    const some = await statement<unknown[]>(text('SELECT 1 FROM leaf_number WHERE biz_tag = ? LIMIT 1'), [tag]);
    if (some.length > 0) {
      throw new LeafError(
        'LEAF_TAG_GAPLESS',
        `Tag "${tag}" has given numbers to documents, and their journal belongs to it: it cannot be deleted. Pause it instead.`,
      );
    }
    await statement(text('DELETE FROM leaf_number_head WHERE biz_tag = ?'), [tag]);
  }

  private async existing(tag: string, statement: Statement): Promise<LeafError> {
    const same = (await this.read(tag, statement)) !== undefined;
    return new LeafError(
      'LEAF_TAG_EXISTS',
      same
        ? `The tag "${tag}" already exists. Change it, or choose another name.`
        : `The table leaf_alloc has a tag that its collation treats as equal to "${tag}", with other letter case or trailing spaces. Choose another name.`,
    );
  }

  /** Deleted tag → its first unallocated ID. */
  async listDeleted(): Promise<Map<string, bigint>> {
    const rows = await this.database.read((manager) =>
      manager.getRepository(LeafDeletedTag).createQueryBuilder('leaf_deleted_tag').where(WITHOUT_ROW).getMany(),
    );
    return new Map(rows.map(({ biz_tag, max_id }) => [biz_tag, BigInt(max_id)]));
  }

  /**
   * What a tag has issued, from its record.
   *
   * @param of databases that share the IDs of the tag: the limits of the record count the IDs of this one
   */
  private async readHistory(tag: string, statement: Statement, of = 1): Promise<History | undefined> {
    const { text, decimal, textOf, deletedTag, forUpdate } = this.dialect;
    const columns = `${textOf('max_id')} AS issued, ${decimal(historyEnd(this.dialect))} AS history_end`;
    const sql = text(`SELECT ${columns} FROM leaf_deleted_tag WHERE ${deletedTag} ${forUpdate}`);
    const [record] = await statement<{ issued: string; history_end: string }[]>(sql, [tag]);
    if (record === undefined) return undefined;
    const issued = BigInt(record.issued);
    const end = issued + (BigInt(record.history_end) - issued) * BigInt(of);
    return { issued, end: end < MAX_ID ? end : MAX_ID };
  }

  private async lock(tag: string, statement: Statement): Promise<LeafAlloc> {
    const row = await this.read(tag, statement, this.dialect.forUpdate);
    if (row !== undefined) return row;
    throw unknownTag(tag);
  }

  private async read(tag: string, statement: Statement, suffix = ''): Promise<LeafAlloc | undefined> {
    const { dialect } = this;
    const sql = dialect.text(`${select(dialect)} WHERE ${dialect.thisTag} ${suffix}`);
    const [row] = await statement<LeafAlloc[]>(sql, dialect.key(tag));
    return row;
  }
}

interface History {
  /** Each ID below it was issued, or never will be. */
  readonly issued: bigint;
  /** No ID at or above it was issued. */
  readonly end: bigint;
}

/** @throws LeafError `LEAF_MAX_ID_BACKWARDS`, `LEAF_TAG_EXISTS` */
function assertAfterDeleted({ tag, maxId, order, reset }: NewTag, deleted: bigint): void {
  if (isOrdered(order)) {
    throw new LeafError(
      'LEAF_TAG_EXISTS',
      `A tag "${tag}" was deleted, and servers may still issue its buffered IDs, which would break the order of a ${order} tag with this name. Choose another name.`,
    );
  }
  if (reset === undefined && maxId !== undefined && maxId < deleted) throw backwards(tag, deleted, maxId);
}

/** Compares names by their bytes in UTF-8. */
export function compareNames(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The higher of the positions that two databases remember. */
export function highest(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}

function moving(tag: string, description: string): LeafError {
  return new LeafError(
    'LEAF_TAG_EXISTS',
    `Tag "${tag}" is moving from ${description} to another database. If leaf-server move-tags ended before, run it again.`,
  );
}

/** The name in `leaf_deleted_tag`: numbers of periods are recorded separately from plain IDs of the tag. */
function deletedName(tag: string, reset: TagReset | undefined): string {
  return reset === undefined ? tag : periodRow(tag, '');
}

function backwards(tag: string, maxId: bigint, wanted: bigint): LeafError {
  return new LeafError(
    'LEAF_MAX_ID_BACKWARDS',
    `Tag "${tag}" has issued IDs up to ${maxId - 1n}: maxId must be at least ${maxId}, not ${wanted}.`,
  );
}

function fixedStart(tag: string): LeafError {
  return new LeafError(
    'LEAF_BODY_INVALID',
    `maxId of the gapless tag "${tag}" cannot be changed, because that would leave a gap. POST /api/tags/${tag}/continue skips numbers, with a reason.`,
  );
}

function notWithInterleave(tag: string): LeafError {
  return new LeafError(
    'LEAF_BODY_INVALID',
    `The tag cannot be stored: "${tag}" is interleaved over several databases, which excludes max. Omit max.`,
  );
}
