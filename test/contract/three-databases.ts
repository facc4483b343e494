export type Urls = Readonly<Record<'a' | 'b' | 'c', string>>;

export interface Failure {
  readonly create: readonly string[];
  readonly drop: string;
}

export interface ThreeDatabases {
  readonly urls: Urls;
  /** A trigger that fails every statement of its kind, such as `UPDATE ON leaf_alloc`. */
  readonly failing: (database: keyof Urls, event: string) => Failure;
  readonly cleanUp: () => Promise<void>;
}

/** {@link ThreeDatabases.failing} on SQLite. */
export function failingFile(event: string): Failure {
  return {
    create: [`CREATE TRIGGER failing BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END`],
    drop: 'DROP TRIGGER failing',
  };
}

/** {@link ThreeDatabases.failing} on MySQL and MariaDB. */
export function failingMysql(event: string): Failure {
  return {
    create: [
      `CREATE TRIGGER failing BEFORE ${event} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the disk is on fire'`,
    ],
    drop: 'DROP TRIGGER failing',
  };
}

/** {@link ThreeDatabases.failing} on PostgreSQL. */
export function failingPostgres(event: string): Failure {
  return {
    create: [
      `CREATE FUNCTION failing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is on fire'; END $$`,
      `CREATE TRIGGER failing BEFORE ${event} FOR EACH ROW EXECUTE FUNCTION failing()`,
    ],
    drop: 'DROP FUNCTION failing CASCADE',
  };
}
