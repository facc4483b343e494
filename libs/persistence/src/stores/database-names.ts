import { LeafError } from '@leaf-ids/core';
import type { SqlDatabase, Statement } from '../connections/sql-database';
import { type NameState, type RecordedNames, takenOutItself } from './roster-faults';
import type { WorkerDialect } from './worker-row';

/** Prefix of the names in `leaf_registry`. */
const PREFIX = 'database:';

const DOCUMENTS: Readonly<Record<NameState, string>> = {
  listed: '{}',
  removed: '{"state":"removed"}',
  left: '{"state":"left"}',
};

interface NameRow {
  readonly name: string;
  readonly document: string;
}

/**
 * The names of all databases that ever shared the tags, on record in each of them. They reveal a database that is
 * missing in the configuration, was replaced by an empty one, or was taken out of the list. A database that was always
 * the only one has no names on record.
 */
export class DatabaseNames {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Pick<WorkerDialect, 'text' | 'insert' | 'onConflict'>,
  ) {}

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` */
  async list(): Promise<RecordedNames> {
    return this.read((sql, parameters = []) => this.database.run(sql, parameters));
  }

  /**
   * Keeps the state of a name that is on record.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  async add(name: string): Promise<void> {
    const { text, insert, onConflict } = this.dialect;
    const sql = `${insert} INTO leaf_registry (name, document) VALUES (?, '${DOCUMENTS.listed}') ${onConflict}`;
    await this.database.run(text(sql), [PREFIX + name]);
  }

  /** Changes the state of a name that is on record. */
  async mark(name: string, state: NameState, statement: Statement = this.statement): Promise<void> {
    const sql = this.dialect.text('UPDATE leaf_registry SET document = ? WHERE name = ?');
    await statement(sql, [DOCUMENTS[state], PREFIX + name]);
  }

  /**
   * Locks the names until the end of a transaction, in which this database is then not taken out of the list.
   *
   * @param forUpdate the end of a SELECT that locks its rows
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` in a database that was taken out
   */
  async assertNotLeft(statement: Statement, forUpdate: string): Promise<void> {
    for (const [name, state] of await this.read(statement, forUpdate)) {
      if (state === 'left') throw new LeafError('LEAF_STORE_UNAVAILABLE', takenOutItself(name));
    }
  }

  private readonly statement: Statement = (sql, parameters = []) => this.database.run(sql, parameters);

  private async read(statement: Statement, suffix = ''): Promise<RecordedNames> {
    const sql = `SELECT name, document FROM leaf_registry WHERE name LIKE '${PREFIX}%' ORDER BY name ${suffix}`;
    const rows = await statement<NameRow[]>(sql);
    return new Map(rows.map(({ name, document }) => [name.slice(PREFIX.length), stateOf(document)]));
  }
}

function stateOf(document: string): NameState {
  return document === DOCUMENTS.left ? 'left' : document === DOCUMENTS.removed ? 'removed' : 'listed';
}
