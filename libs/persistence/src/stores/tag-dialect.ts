import type { SqlParameter } from '../connections/sql-database';
import type { MoveDialect } from '../failover/move-forward';
import { INSERT_ROW } from './stored-tag';
import type { ReadDialect } from './table';

/** The differences between databases in the statements on tags, written with `?` for a parameter. */
export interface TagDialect extends MoveDialect, ReadDialect {
  /** The condition that matches exactly one tag; `key` returns its parameters. */
  readonly thisTag: string;
  readonly key: (tag: string) => SqlParameter[];
  /** An expression that orders `text` by its bytes in UTF-8, in every database alike. */
  readonly bytesOf: (text: string) => string;
  /** As `decimal`, of a value that may be anything else where columns have no type: it stays as it is. */
  readonly textOf: (value: string) => string;
  readonly forUpdate: string;
  /** The parameters are `writtenValues`; keeps an existing row. */
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

/** Standard SQL, and extensions that PostgreSQL and SQLite share. */
export const STANDARD_TAGS = {
  thisTag: 'biz_tag = ?',
  key: (tag: string) => [tag],
  bytesOf: (text: string) => text,
  insertTag: `INSERT INTO ${INSERT_ROW}
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

/** The placeholders of drivers that accept `?`. */
export function unchanged(sql: string): string {
  return sql;
}

/** Replaces each `?` by `$1`, `$2` …, the placeholders of PostgreSQL. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => `$${++count}`);
}
