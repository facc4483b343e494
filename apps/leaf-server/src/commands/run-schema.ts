import { DIALECT_NAMES, schemaStatements } from '@leaf-ids/persistence';
import { UsageError } from './command-line';

/**
 * `leaf-server schema mysql|postgres|sqlite`: prints the SQL that creates the tables in an empty database. Opens no
 * connection and reads no settings.
 *
 * @throws UsageError
 */
export async function runSchema(given: string): Promise<void> {
  const dialect = DIALECT_NAMES.find((name) => name === given);
  if (dialect === undefined) throw new UsageError(`'schema' needs one of ${DIALECT_NAMES.join('|')}`);
  const text = (await schemaStatements(dialect)).map((line) => `${line};\n`).join('');
  process.stdout.write(
    `-- The tables of Leaf for an empty ${dialect} database. Run this once, before the first start.\n${text}`,
  );
}
