/** The placeholders of drivers that accept `?`. */
export function unchanged(sql: string): string {
  return sql;
}

/** Replaces each `?` by `$1`, `$2` …, the placeholders of PostgreSQL. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => `$${++count}`);
}
