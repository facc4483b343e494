import type { DatabaseTarget } from '../database/database-url';
import type { SqlDatabase } from '../connections/sql-database';
import { numbered, unchanged } from './sql-text';

/** The rows of `leaf_registry` that this is about. */
const PREFIX = 'database:';

const INSERTS: Readonly<Record<DatabaseTarget['dialect'], string>> = {
  sqlite: "INSERT INTO leaf_registry (name, document) VALUES (?, '{}') ON CONFLICT (name) DO NOTHING",
  mysql: "INSERT IGNORE INTO leaf_registry (name, document) VALUES (?, '{}')",
  postgres: "INSERT INTO leaf_registry (name, document) VALUES (?, '{}') ON CONFLICT (name) DO NOTHING",
};

/**
 * The names of all databases that tags were ever spread over, as one of them remembers: it shows when one is missing in
 * the configuration, or was replaced by an empty one. A database that was always the only one remembers none.
 */
export class DatabaseNames {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: DatabaseTarget['dialect'],
  ) {}

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` */
  async list(): Promise<string[]> {
    const sql = `SELECT name FROM leaf_registry WHERE name LIKE '${PREFIX}%' ORDER BY name`;
    const rows = await this.database.run<{ name: string }[]>(sql, []);
    return rows.map(({ name }) => name.slice(PREFIX.length));
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` */
  async add(name: string): Promise<void> {
    const text = this.dialect === 'postgres' ? numbered : unchanged;
    await this.database.run(text(INSERTS[this.dialect]), [PREFIX + name]);
  }
}
