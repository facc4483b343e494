import type { DataSource } from 'typeorm';
import type { Clock } from '@leaf-ids/core';
import type { SqlParameter } from '../../../../libs/persistence/src/connections/session';
import type { SqliteConnection, SqliteDriver } from '../../../../libs/persistence/src/dialects/sqlite/sqlite-file';

interface Prepared {
  readonly reader: boolean;
  all(parameters: readonly SqlParameter[]): unknown[];
  run(parameters: readonly SqlParameter[]): unknown;
}

/** One connection to an engine. */
export interface EngineSession {
  inTransaction: boolean;
  /** Its transaction was ended by the engine: it gets no further answer. */
  isBroken: boolean;
  /** Its client has left: it begins no transaction any more. */
  readonly isClosed: boolean;
  /** It comes through while the engine is down for everybody else. */
  readonly isOperator: boolean;
}

/** What an engine had at some time. */
export interface Copy {
  readonly number: number;
  readonly generation: number;
  /** Whether a tag had been used. */
  readonly isUsed: boolean;
  /** In milliseconds. */
  readonly takenAt: number;
}

/** The tables that a copy has, in the order in which they are filled. */
const TABLES = ['leaf_alloc', 'leaf_deleted_tag', 'leaf_segment_server', 'leaf_registry', 'leaf_number_head'];
const SELECT = /^\s*SELECT\b/;
/** Waits for the end of another transaction, in milliseconds. */
const LOCK_WAIT_MS = 1000;

/** The statements that make Leaf's tables in a simulated engine, from a database that the product has opened. */
export async function schemaOf(query: (sql: string) => Promise<{ sql: string }[]>): Promise<string> {
  const names = TABLES.map((name) => `'${name}'`).join(', ');
  const tables = await query(`SELECT sql FROM sqlite_master WHERE type = 'table' AND name IN (${names})`);
  const clock = `CREATE TABLE sim_server (name text, now integer);
    INSERT INTO sim_server VALUES ('server 1', 0);
    CREATE TRIGGER sim_time AFTER INSERT ON leaf_segment_server BEGIN
      UPDATE leaf_segment_server SET update_time = (SELECT datetime(now, 'unixepoch') FROM sim_server) WHERE id = NEW.id;
    END`;
  return [...tables.map(({ sql }) => sql), clock].join(';\n');
}

/**
 * A database server: SQLite in memory, which executes the product's own statements; its clock is the simulated one. It
 * has a name that a promoted replica does not share. One transaction runs at a time; others wait for it.
 */
export class SimEngine {
  /** True while it refuses connections. */
  isDown = false;
  private readonly database: SqliteConnection;
  private readonly prepared = new Map<string, Prepared>();
  private owner: EngineSession | undefined;
  private readonly waiting = new Set<() => void>();
  private copies = 0;
  private promotions = 1;
  private now = 0;

  /**
   * @param entities knows the entities of the product; not connected
   * @param onCommit called after each change
   */
  constructor(
    Driver: SqliteDriver,
    schema: string,
    readonly entities: DataSource,
    readonly name: string,
    private readonly clock: Clock,
    private readonly onCommit: (engine: SimEngine) => void,
  ) {
    this.database = new Driver(':memory:');
    this.database.exec(schema);
    this.database.exec(`UPDATE sim_server SET name = '${name} 1'`);
  }

  /** Executes a statement as part of a session: at once, or when the transaction of another one has ended. */
  async execute(session: EngineSession, sql: string, parameters: readonly SqlParameter[]): Promise<unknown> {
    const end = this.clock.monotonic() + LOCK_WAIT_MS;
    while (this.owner !== undefined && this.owner !== session) {
      if (this.clock.monotonic() >= end) throw Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' });
      await this.turn(end);
    }
    if (session.isBroken || (session.isClosed && sql === 'BEGIN'))
      throw Object.assign(new Error('broken'), { code: 'ECONNRESET' });
    if (this.isDown && !session.isOperator) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
    if (sql === 'BEGIN') {
      this.owner = session;
      session.inTransaction = true;
      this.database.exec('BEGIN');
      return [];
    }
    if (sql === 'COMMIT' || sql === 'ROLLBACK') {
      this.end(session, sql);
      return [];
    }
    const result = this.sql(sql, parameters);
    if (!session.inTransaction && !SELECT.test(sql)) this.onCommit(this);
    return result;
  }

  /** Ends what a session has begun. */
  end(session: EngineSession, sql: 'COMMIT' | 'ROLLBACK' = 'ROLLBACK'): void {
    if (this.owner !== session) return;
    this.database.exec(sql);
    session.inTransaction = false;
    this.owner = undefined;
    if (sql === 'COMMIT') this.onCommit(this);
    for (const wake of [...this.waiting]) wake();
  }

  /** Executes a statement at once, for operators and checkers. */
  sql<Row>(text: string, parameters: readonly SqlParameter[] = []): Row[] {
    this.tick();
    let statement = this.prepared.get(text);
    if (statement === undefined) {
      const withClock = text
        .replaceAll('CURRENT_TIMESTAMP', "(SELECT datetime(now, 'unixepoch') FROM sim_server)")
        .replaceAll("strftime('%s', 'now')", "strftime('%s', (SELECT now FROM sim_server), 'unixepoch')");
      statement = this.database.prepare(withClock) as unknown as Prepared;
      this.prepared.set(text, statement);
    }
    if (statement.reader) return statement.all(parameters) as Row[];
    statement.run(parameters);
    return [];
  }

  /** An operator's change, which rolls back the open transactions of all others. */
  change(...statements: readonly string[]): void {
    const { owner } = this;
    if (owner !== undefined) {
      this.end(owner);
      owner.isBroken = true;
    }
    for (const statement of statements) this.sql(statement);
    this.onCommit(this);
  }

  /** A copy of the last commit: a backup, or the state of a replica. */
  copy(): Copy | undefined {
    if (this.owner !== undefined) return undefined;
    const number = ++this.copies;
    for (const table of TABLES) this.database.exec(`CREATE TABLE copy_${number}_${table} AS SELECT * FROM ${table}`);
    const isUsed = this.sql('SELECT 1 FROM leaf_alloc WHERE issue_limit IS NOT NULL').length > 0;
    return { number, generation: this.generation, isUsed, takenAt: this.clock.monotonic() };
  }

  /** Puts a copy in the place of the data. */
  restore({ number }: Copy): void {
    const tables = TABLES.flatMap((table) => [
      `DELETE FROM ${table}`,
      `INSERT INTO ${table} SELECT * FROM copy_${number}_${table}`,
    ]);
    this.change(...tables);
  }

  /** A replica that has the data of a copy becomes the primary. */
  promote(copy: Copy): void {
    // Rolls back open transactions first: one of them would take the name back.
    this.change(`UPDATE sim_server SET name = '${this.name} ${++this.promotions}'`);
    this.restore(copy);
  }

  /** Of the record of the failover guard; 0 without one. */
  get generation(): number {
    const [record] = this.sql<{ generation: number }>('SELECT generation FROM leaf_segment_server');
    return record?.generation ?? 0;
  }

  close(): void {
    this.prepared.clear();
    this.database.close();
  }

  private tick(): void {
    const now = Math.floor(this.clock.now() / 1000);
    if (now === this.now) return;
    this.now = now;
    this.sql('UPDATE sim_server SET now = ?', [now]);
  }

  private turn(end: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.waiting.delete(wake);
        resolve();
      };
      const cancel = this.clock.after(end - this.clock.monotonic(), wake);
      this.waiting.add(wake);
    });
  }
}
