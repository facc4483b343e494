import { LeafError } from '@leaf-ids/core';
import type { SqlDatabase, Statement } from '../connections/sql-database';
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

/**
 * What a database knows of a name: `listed`: that database has, or had, tags of the service. `removed`: it was taken
 * out of the list, and all its tags are in the others. `left`: it is this database, and was taken out: it must not
 * issue IDs any more.
 */
type NameState = 'listed' | 'removed' | 'left';

/** Name → state. */
export type RecordedNames = ReadonlyMap<string, NameState>;

const REMOVE = 'leaf-server remove-database';

function missing(name: string): string {
  return `The database "${name}" has or had tags of this service but is missing in the option segment.database.shards: its tags would restart at 1. Add it again; to remove it, run ${REMOVE} with a list that contains it.`;
}

/** The message for a configured database that was taken out of the list. */
export function takenOut(name: string): string {
  return `The database "${name}" was removed with ${REMOVE}; the other databases have its tags. Remove "${name}" from the option segment.database.shards and from the values of the option segment.database.shards.tags. A new database needs another name.`;
}

/** The message for changes in a database that was taken out of the list. */
function takenOutItself(name: string): string {
  return `This database "${name}" was removed with ${REMOVE}; the other databases have its tags. Remove it from the settings.`;
}

export function replaced(name: string): string {
  return `The database "${name}" was replaced by another one: its tags would restart at 1. Correct its URL in the option segment.database.shards, or restore it. To start with an empty database, remove its name from the other databases as described in docs/operations/several-databases.md.`;
}

function oneOfSeveral(names: readonly string[]): string {
  return `This database was one of several (${names.join(', ')}): tags of the others would restart at 1. List all of them in the option segment.database.shards. To remove one, run ${REMOVE} with a list that contains it.`;
}

/** The differences between the configured databases and the names on record. */
export interface RosterFaults {
  /** Configured names that were taken out of the list. */
  readonly takenOut: readonly string[];
  /** A message for each name that is taken out, or that is missing in the configuration. */
  readonly messages: readonly string[];
  /** Configured databases that lack their own name, which others have on record. */
  readonly replaced: readonly string[];
}

/**
 * @param configured the names of all configured databases
 * @param lists name → what the database has on record; only of those that respond
 */
export function rosterFaults(configured: readonly string[], lists: ReadonlyMap<string, RecordedNames>): RosterFaults {
  const recorded = [...lists.values()].flatMap((names) => [...names]);
  const known = new Set(recorded.map(([name]) => name));
  const gone = new Set(recorded.flatMap(([name, state]) => (state === 'listed' ? [] : [name])));
  const listed = new Set(recorded.flatMap(([name, state]) => (state === 'listed' ? [name] : [])));
  const takenOutNames = configured.filter((name) => gone.has(name));
  // Also one that some have as removed: those that do not may lack the tags that were moved to them.
  const missingNames = [...listed].filter((name) => !configured.includes(name));
  return {
    takenOut: takenOutNames,
    messages: [...takenOutNames.map(takenOut), ...missingNames.map(missing)],
    replaced: [...lists].flatMap(([name, names]) => (known.has(name) && !names.has(name) ? [name] : [])),
  };
}

/** Why a database must not be used alone; undefined if it may: it always was alone, or all others were taken out. */
export function aloneFault(names: RecordedNames): string | undefined {
  const left = [...names].find(([, state]) => state === 'left');
  if (left !== undefined) return takenOutItself(left[0]);
  const listed = [...names].flatMap(([name, state]) => (state === 'listed' ? [name] : []));
  const isLast = listed.length === 1 && names.size > 1;
  return names.size === 0 || isLast ? undefined : oneOfSeveral(listed);
}
