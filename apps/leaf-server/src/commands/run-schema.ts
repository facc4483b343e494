import { LeafError } from '@leaf-ids/core';
import { DIALECT_NAMES, schemaStatements } from '@leaf-ids/persistence';

/**
 * `leaf-server schema mysql|postgres|sqlite`: prints the SQL that creates the tables in an empty database. Opens no
 * connection and reads no settings.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export async function runSchema(args: readonly string[]): Promise<void> {
  const dialect = DIALECT_NAMES.find((name) => name === args[0]);
  if (dialect === undefined || args.length > 1) {
    throw new LeafError('LEAF_CONFIG_INVALID', `Usage: leaf-server schema ${DIALECT_NAMES.join('|')}`);
  }
  const text = (await schemaStatements(dialect)).map((line) => `${line};\n`).join('');
  process.stdout.write(
    `-- The tables of Leaf for an empty ${dialect} database. Run this once, before the first start.\n${text}`,
  );
}
