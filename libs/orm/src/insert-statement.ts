/**
 * How an INSERT of TypeORM treats existing rows. It parses the SQL, because a subscriber receives only the text of a
 * statement.
 */
export class InsertStatement {
  /** The statement from the conflict clause on. */
  private readonly clause: string;
  private readonly ignores: boolean;
  private readonly returned: string;

  constructor(private readonly sql: string) {
    const conflict = Math.max(sql.lastIndexOf(' ON CONFLICT'), sql.lastIndexOf(' ON DUPLICATE KEY UPDATE '));
    const returning = sql.lastIndexOf(' RETURNING ');
    this.clause = conflict < 0 ? '' : sql.slice(conflict);
    this.ignores = /\bINSERT +IGNORE +INTO /.test(sql.slice(0, sql.indexOf(' INTO ') + ' INTO '.length));
    this.returned = returning < 0 ? '' : sql.slice(returning);
  }

  /** @param table escaped name */
  isInto(table: string): boolean {
    return this.sql.includes(`INSERT INTO ${table}`) || this.sql.includes(` IGNORE INTO ${table}`);
  }

  /** Whether the statement succeeds when a row exists already. */
  get toleratesConflicts(): boolean {
    return this.ignores || this.clause !== '';
  }

  /** Whether it may write or return fewer rows than it contains. */
  get skipsRows(): boolean {
    return this.ignores || / DO NOTHING\b/.test(this.clause) || / DO UPDATE SET .* WHERE /s.test(this.clause);
  }

  /** Whether it has the clause of MySQL, which applies to a conflict on any unique index. */
  get countsAnyConflict(): boolean {
    return this.clause.startsWith(' ON DUPLICATE KEY UPDATE ');
  }

  /** Whether rows conflict only if they are equal in the column. */
  conflictsOn(column: string): boolean {
    return /^ ON CONFLICT \(([^)]*)\)/.exec(this.clause)?.[1]?.includes(column) ?? false;
  }

  overwrites(column: string): boolean {
    return [`${column} = EXCLUDED.${column}`, `${column} = VALUES(${column})`].some((set) => this.clause.includes(set));
  }

  returns(column: string): boolean {
    return this.returned.includes(column) || this.returned.trim() === 'RETURNING *';
  }
}
