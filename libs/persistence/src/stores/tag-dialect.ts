import type { SqlParameter } from '../connections/sql-database';
import type { MoveDialect } from '../failover/move-forward';
import { KIND_COLUMNS } from './setting-columns';

/** The differences between databases in the statements on tags, written with `?` for a parameter. */
export interface TagDialect extends MoveDialect {
  /** The condition that matches exactly one tag; `key` returns its parameters. */
  readonly thisTag: string;
  readonly key: (tag: string) => SqlParameter[];
  /** An expression that orders `text` by its bytes in UTF-8, in every database alike. */
  readonly bytesOf: (text: string) => string;
  /** An expression for an integer as decimal text: JavaScript numbers are exact to 2^53 only. */
  readonly decimal: (value: string) => string;
  /** As {@link decimal}, of a value that may be anything else where columns have no type: it stays as it is. */
  readonly textOf: (value: string) => string;
  /** Time of the last write of a row, in Unix seconds. */
  readonly updated: string;
  /** The clock of the database, in Unix seconds. */
  readonly now: string;
  readonly forUpdate: string;
  /**
   * tag, max_id, step, description, then the settings in the order of the columns, period_start, next_id; keeps an existing row
   */
  readonly insertTag: string;
  /** Whether the result of `insertTag` is a new row. */
  readonly inserted: (answer: unknown) => boolean;
  /** tag, max_id, issue_limit; of an existing record, keeps the higher max_id and the limit */
  readonly rememberDeleted: string;
  /** tag; the condition that matches its record in `leaf_deleted_tag` */
  readonly deletedTag: string;
}

/**
 * Prefix of the name of a frozen row, which is on its way to another database. No tag and no period has such a name, so
 * no program allocates from the row; and lists of tags omit it, as they do the rows of periods.
 */
export const FROZEN = '@';

/** The columns of {@link TagDialect.insertTag}. */
export const INSERTED = `biz_tag, max_id, step, description, max_step, last_id, ${KIND_COLUMNS}, period_start, next_id`;

/** Standard SQL, and extensions that PostgreSQL and SQLite share. */
export const STANDARD_TAGS = {
  thisTag: 'biz_tag = ?',
  key: (tag: string) => [tag],
  bytesOf: (text: string) => text,
  insertTag: `INSERT INTO leaf_alloc (${INSERTED}) VALUES (?, ?, ?, NULLIF(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (biz_tag) DO NOTHING RETURNING 1 AS inserted`,
  inserted: (answer: unknown) => (answer as unknown[]).length > 0,
  insertMissing: (into: string) => `INSERT ${into} ON CONFLICT DO NOTHING`,
  deletedTag: 'leaf_deleted_tag.biz_tag = ?',
} satisfies Partial<TagDialect>;

/** SQL: no ID of the tag at or above this was issued, according to its record in `leaf_deleted_tag`. */
export function historyEnd({ greatest }: Pick<TagDialect, 'greatest'>): string {
  return `${greatest}(max_id, COALESCE(issue_limit, 0))`;
}

/** SQL with the parameters tag and ID: unless IDs of the tag from this one on are on record as issued. */
export function notIssuedAbove({ deletedTag }: TagDialect): string {
  return `NOT EXISTS (SELECT 1 FROM leaf_deleted_tag WHERE ${deletedTag} AND leaf_deleted_tag.max_id > ?)`;
}
