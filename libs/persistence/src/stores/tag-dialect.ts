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
  /** tag, max_id; keeps the higher max_id */
  readonly rememberDeleted: string;
  /** tag; locks the record */
  readonly deleted: string;
  /** tag, max_id: true unless a deleted tag with this name has a higher max_id */
  readonly notDeletedAbove: string;
}

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
  notDeletedAbove:
    'NOT EXISTS (SELECT 1 FROM leaf_deleted_tag WHERE leaf_deleted_tag.biz_tag = ? AND leaf_deleted_tag.max_id > ?)',
} satisfies Partial<TagDialect>;
