import type { SqlDatabase } from '../connections/sql-database';
import type { WorkerDialect } from './worker-dialect';

/** Prefix of the names in `leaf_registry`. */
const PREFIX = 'database:';

/**
 * The names of all databases that ever shared the tags, on record in each of them. They reveal a database that is
 * missing in the configuration, or was replaced by an empty one. A database that was always the only one has no names
 * on record.
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
