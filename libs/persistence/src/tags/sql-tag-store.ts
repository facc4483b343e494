import {
  assertNewTag,
  assertTagChange,
  LeafError,
  type NewTag,
  periodRow,
  type TagChange,
  type TagRow,
  TagStore,
} from '@leaf/core';
import type { SqlDatabase, SqlParameter, Statement } from '../sql-database';
import { NO_PERIOD } from './period-statement';
import { KIND_COLUMNS, kindOf, type SettingColumns } from './setting-columns';
import type { TagDialect } from './tag-dialect';

interface StoredRow extends SettingColumns {
  readonly biz_tag: string;
  /** Decimal: JavaScript numbers are exact to 2^53 only. */
  readonly max_id: string;
  /** Decimal: where the periods of a tag begin. */
  readonly period_start: string | null;
  readonly step: number | string;
  readonly description: string | null;
  /** Unix seconds. */
  readonly updated: number | string | null;
}

/** How long a change may take, in milliseconds: a few statements. */
const CHANGE_LIMIT_MS = 5000;

/** Rows that are read at once: few enough that nobody has to wait for the driver that reads them. */
const PAGE = 1000;

/** The rows of `leaf_alloc`, and of `leaf_deleted_tag`, for those who look after them. */
export class SqlTagStore extends TagStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: TagDialect,
  ) {
    super();
  }

  async list(limit = Infinity): Promise<TagRow[]> {
    const rows: TagRow[] = [];
    for (;;) {
      const size = Math.min(PAGE, limit - rows.length);
      const page = await this.page(rows.at(-1)?.tag, size);
      for (const row of page) rows.push(toTagRow(row));
      if (page.length < size || rows.length >= limit) return rows;
      await this.database.letOthersPass();
    }
  }

  async find(tag: string): Promise<TagRow | undefined> {
    const row = await this.read(tag, (sql, parameters = []) => this.database.run(sql, parameters));
    return row && toTagRow(row);
  }

  async create(tag: NewTag): Promise<TagRow> {
    assertNewTag(tag);
    return this.database.transaction((statement) => this.insert(tag, statement), CHANGE_LIMIT_MS);
  }

  async change(tag: string, change: TagChange): Promise<{ readonly before: TagRow; readonly after: TagRow }> {
    assertTagChange(change);
    return this.database.transaction(async (statement) => {
      const stored = await this.lock(tag, statement);
      const before = toTagRow(stored);
      const { maxId, step, description, maxStep = before.maxStep, max = before.max } = change;
      assertTagChange({ step: step ?? before.step, maxStep });
      if (max !== undefined && max !== null && before.interleave !== undefined) throw notWithInterleave(tag);
      if (maxId !== undefined && maxId < before.maxId) throw backwards(tag, before.maxId, maxId);
      const update = `UPDATE leaf_alloc SET max_id = ?, period_start = ?, step = ?, max_step = ?, last_id = ?,
        description = NULLIF(?, ''), update_time = CURRENT_TIMESTAMP
        WHERE ${this.dialect.thisTag}`;
      const limits = [step ?? before.step, maxStep ?? null, max ?? null];
      await statement(this.dialect.text(update), [
        larger(BigInt(stored.max_id), maxId ?? 0n),
        before.reset === undefined ? null : (maxId ?? before.maxId),
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
      const row = await this.lock(tag, statement);
      await statement(this.dialect.text(this.dialect.rememberDeleted), [
        deletedName(tag, row.reset_every),
        BigInt(row.max_id),
      ]);
      await statement(this.dialect.text(`DELETE FROM leaf_alloc WHERE ${this.dialect.thisTag}`), this.dialect.key(tag));
      return toTagRow(row);
    }, CHANGE_LIMIT_MS);
  }

  /** The rows of the tag's periods follow its own. LIKE finds them by the key, but not exactly in every database. */
  private async changePeriods(tag: string, limits: SqlParameter[], statement: Statement): Promise<void> {
    const rows = periodRow(tag, '');
    const update = `UPDATE leaf_alloc SET step = ?, max_step = ?, last_id = ?
      WHERE biz_tag LIKE ? ESCAPE '!' AND SUBSTR(biz_tag, 1, ?) = ?`;
    const like = `${rows.replaceAll('_', '!_')}%`;
    await statement(this.dialect.text(update), [...limits, like, rows.length, rows]);
  }

  /** The first rows by name, or the first ones after `tag`; not those of periods. */
  private page(tag: string | undefined, size: number): Promise<StoredRow[]> {
    const after = `WHERE ${NO_PERIOD}${tag === undefined ? '' : ' AND biz_tag > ?'}`;
    const sql = this.dialect.text(`${select(this.dialect)} ${after} ORDER BY biz_tag LIMIT ?`);
    return this.database.run(sql, tag === undefined ? [size] : [tag, size]);
  }

  private async insert(newTag: NewTag, statement: Statement): Promise<TagRow> {
    const { dialect } = this;
    const { tag, maxId, description } = newTag;
    const [deleted] = await statement<{ max_id: string }[]>(
      dialect.text(`SELECT ${dialect.maxIdText} AS max_id FROM leaf_deleted_tag WHERE biz_tag = ?`),
      [deletedName(tag, newTag.reset)],
    );
    const least = BigInt(deleted?.max_id ?? 1);
    if (newTag.reset === undefined && maxId !== undefined && maxId < least) throw backwards(tag, least, maxId);
    const inserted = await statement(dialect.text(dialect.insertTag), insertValues(newTag, larger(least, maxId ?? 1n)));
    if (dialect.inserted(inserted)) {
      const row = toTagRow(await this.lock(tag, statement));
      // An INSERT that leaves what is there lets characters that the table does not have become question marks, too.
      if ((row.description ?? '') === (description ?? '')) return row;
      throw new LeafError(
        'LEAF_BODY_INVALID',
        'The database cannot store this description: the table has no place for some of its characters; utf8mb4 has.',
      );
    }
    const same = (await this.read(tag, statement)) !== undefined;
    throw new LeafError(
      'LEAF_TAG_EXISTS',
      same
        ? `There is a tag "${tag}" already. Change it, or choose another name.`
        : `The table leaf_alloc has a tag that it takes for "${tag}", in other letter case or with trailing spaces. Choose another name.`,
    );
  }

  private async lock(tag: string, statement: Statement): Promise<StoredRow> {
    const row = await this.read(tag, statement, this.dialect.forUpdate);
    if (row !== undefined) return row;
    throw new LeafError('LEAF_TAG_NOT_FOUND', `There is no tag "${tag}". Create it first.`);
  }

  private async read(tag: string, statement: Statement, suffix = ''): Promise<StoredRow | undefined> {
    const { dialect } = this;
    const sql = dialect.text(`${select(dialect)} WHERE ${dialect.thisTag} ${suffix}`);
    const [row] = await statement<StoredRow[]>(sql, dialect.key(tag));
    return row;
  }
}

function select({ maxIdText, lastIdText, periodStartText, updated }: TagDialect): string {
  return `SELECT biz_tag, ${maxIdText} AS max_id, ${periodStartText} AS period_start, COALESCE(step, 0) AS step, max_step, ${lastIdText} AS last_id,
    ${KIND_COLUMNS}, description, ${updated} AS updated FROM leaf_alloc`;
}

/** In the order of {@link TagDialect.insertTag}. */
function insertValues(tag: NewTag, maxId: bigint): SqlParameter[] {
  const { interleave, order, reset } = tag;
  return [
    ...[tag.tag, maxId, tag.step, tag.description ?? '', tag.maxStep ?? null, tag.max ?? null],
    ...[order === 'strict' ? order : null, reset ?? null, reset === undefined ? null : (tag.zone ?? 'UTC')],
    ...[interleave?.of ?? null, interleave?.remainder ?? null, interleave?.block ?? null],
    reset === undefined ? null : (tag.maxId ?? 1n),
  ];
}

function toTagRow(row: StoredRow): TagRow {
  const { biz_tag, max_id, period_start, step, max_step, last_id, description, updated } = row;
  return {
    ...kindOf(biz_tag, row),
    tag: biz_tag,
    maxId: BigInt(period_start ?? max_id),
    step: Number(step),
    maxStep: max_step === null ? undefined : Number(max_step),
    max: last_id === null ? undefined : BigInt(last_id),
    description: description ?? undefined,
    updatedAt: Math.round(Number(updated ?? 0) * 1000),
  };
}

/** The numbers of periods and the IDs of a tag without them are not the same, though their names are. */
function deletedName(tag: string, reset: string | null | undefined): string {
  return reset === null || reset === undefined ? tag : periodRow(tag, '');
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function backwards(tag: string, maxId: bigint, wanted: bigint): LeafError {
  return new LeafError(
    'LEAF_MAX_ID_BACKWARDS',
    `Tag "${tag}" has given its IDs up to ${maxId - 1n}: maxId can be ${maxId} or more, not ${wanted}.`,
  );
}

function notWithInterleave(tag: string): LeafError {
  return new LeafError('LEAF_BODY_INVALID', `Tag "${tag}" is interleaved over several databases: it has no max.`);
}
