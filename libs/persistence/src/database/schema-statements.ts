import { migrations, type SchemaRunner } from '@leaf-ids/migrations';
import { type DialectName, DIALECTS } from '../dialects/dialects';
import { MIGRATIONS_TABLE } from '../schema/migrate';

/** TypeORM reads the timestamp of a migration from the end of its name. */
const TIMESTAMP = /\d{13}$/;

/**
 * The statements that create all tables in an empty database and record every migration as executed. They form one
 * transaction, except on MySQL, which commits each statement implicitly.
 */
export async function schemaStatements(dialect: DialectName): Promise<readonly string[]> {
  const { type, createMigrationsTable, isTransactional } = DIALECTS[dialect].schema;
  const recorder = new RecordingRunner(type);
  const records: string[] = [];
  for (const Migration of migrations) {
    const migration = new Migration();
    await migration.up(recorder);
    const timestamp = TIMESTAMP.exec(migration.name)?.[0] ?? '0';
    records.push(`INSERT INTO ${MIGRATIONS_TABLE} (timestamp, name) VALUES (${timestamp}, '${migration.name}')`);
  }
  const statements = [...recorder.statements.map(dedented), createMigrationsTable, ...records];
  return isTransactional ? ['BEGIN', ...statements, 'COMMIT'] : statements;
}

/** Records the statements that a migration would send to an empty database. */
class RecordingRunner implements SchemaRunner {
  readonly connection: SchemaRunner['connection'];
  readonly statements: string[] = [];

  constructor(type: SchemaRunner['connection']['options']['type']) {
    this.connection = { options: { type } };
  }

  query(sql: string): Promise<unknown> {
    this.statements.push(sql);
    return Promise.resolve([]);
  }

  /** Whether a recorded statement creates the column. */
  hasColumn(table: string, column: string): Promise<boolean> {
    const made = new RegExp(`^(CREATE TABLE IF NOT EXISTS|ALTER TABLE) ${table} [^]*?(\\n *|ADD COLUMN )${column} `);
    return Promise.resolve(this.statements.some((sql) => made.test(sql)));
  }
}

/** Removes the indentation that a multi-line statement has in its migration. */
function dedented(sql: string): string {
  const indentation = /\n( *)\S[^\n]*$/.exec(sql)?.[1] ?? '';
  return sql.replaceAll(`\n${indentation}`, '\n');
}
