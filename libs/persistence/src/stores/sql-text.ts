/** For drivers that take `?` as it is. */
export function unchanged(sql: string): string {
  return sql;
}

/** `$1`, `$2` … in place of each `?`, as PostgreSQL wants it. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll('?', () => `$${++count}`);
}
