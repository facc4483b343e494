import type { SqlParameter } from '../connections/sql-database';
import { KIND_COLUMNS } from './setting-columns';

/** What differs from database to database in the statements on tags; written with `?` for a parameter. */
export interface TagDialect {
  /** The statement as the driver wants it. */
  readonly text: (sql: string) => string;
  /** The condition for the row of exactly one tag, and its parameters. */
  readonly thisTag: string;
  readonly key: (tag: string) => SqlParameter[];
  /** An expression that orders `text` by its bytes in UTF-8, in every database alike. */
  readonly bytesOf: (text: string) => string;
  readonly maxIdText: string;
  readonly lastIdText: string;
  readonly periodStartText: string;
  /** When a row was written last, in Unix seconds. */
  readonly updated: string;
  /** The clock of the database, in Unix seconds. */
  readonly now: string;
  /** A parameter that is a whole number. */
  readonly number: string;
  /** The function that gives the largest of its arguments. */
  readonly greatest: string;
  readonly forUpdate: string;
  /** tag, max_id, step, description, then the settings in the order of the columns, period_start; leaves a row that is there */
  readonly insertTag: string;
  /** Whether the answer to `insertTag` says that it was not there. */
  readonly inserted: (answer: unknown) => boolean;
  /** tag, max_id; the higher one stays */
  readonly rememberDeleted: string;
  /** tag; locks the record */
  readonly deleted: string;
  /** tag, max_id: true while no deleted tag of the name had come further */
  readonly notDeletedAbove: string;
}

/** The columns of {@link TagDialect.insertTag}. */
export const INSERTED = `biz_tag, max_id, step, description, max_step, last_id, ${KIND_COLUMNS}, period_start`;

/** What the SQL standard says, or what everybody but MySQL does. */
export const STANDARD_TAGS = {
  thisTag: 'biz_tag = ?',
  key: (tag: string) => [tag],
  bytesOf: (text: string) => text,
  insertTag: `INSERT INTO leaf_alloc (${INSERTED}) VALUES (?, ?, ?, NULLIF(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (biz_tag) DO NOTHING RETURNING 1 AS inserted`,
  inserted: (answer: unknown) => (answer as unknown[]).length > 0,
  notDeletedAbove:
    'NOT EXISTS (SELECT 1 FROM leaf_deleted_tag WHERE leaf_deleted_tag.biz_tag = ? AND leaf_deleted_tag.max_id > ?)',
} satisfies Partial<TagDialect>;
