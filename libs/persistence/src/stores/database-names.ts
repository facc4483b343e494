import type { SqlDatabase } from '../connections/sql-database';
import type { WorkerDialect } from './worker-dialect';

/** The rows of `leaf_registry` that this is about. */
const PREFIX = 'database:';

/**
 * The names of all databases that tags were ever spread over, as one of them remembers: it shows when one is missing in
 * the configuration, or was replaced by an empty one. A database that was always the only one remembers none.
 */
export class DatabaseNames {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Pick<WorkerDialect, 'text' | 'insert' | 'onConflict'>,
  ) {}

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` */
  async list(): Promise<string[]> {
    const sql = `SELECT name FROM leaf_registry WHERE name LIKE '${PREFIX}%' ORDER BY name`;
    const rows = await this.database.run<{ name: string }[]>(sql, []);
    return rows.map(({ name }) => name.slice(PREFIX.length));
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` */
  async add(name: string): Promise<void> {
    const { text, insert, onConflict } = this.dialect;
    const sql = `${insert} INTO leaf_registry (name, document) VALUES (?, '{}') ${onConflict}`;
    await this.database.run(text(sql), [PREFIX + name]);
  }
}
