import { LeafError } from '@leaf/core';
import { schemaStatements } from '@leaf/persistence';

const DIALECTS = ['mysql', 'postgres', 'sqlite'] as const;

/**
 * `leaf-server schema mysql|postgres|sqlite`: prints the SQL that makes the tables in an empty database. Nothing is
 * connected to, and no setting is read.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export async function runSchema(args: readonly string[]): Promise<void> {
  const dialect = DIALECTS.find((name) => name === args[0]);
  if (dialect === undefined || args.length > 1) {
    throw new LeafError('LEAF_CONFIG_INVALID', `leaf-server schema takes one of ${DIALECTS.join(', ')}.`);
  }
  const statements = await schemaStatements(dialect);
  // MySQL commits at each change of a table.
  const lines = dialect === 'mysql' ? statements : ['BEGIN', ...statements, 'COMMIT'];
  const text = lines.map((line) => `${line};\n`).join('');
  process.stdout.write(
    `-- The tables of Leaf for an empty ${dialect} database. Run this once, before the first start.\n${text}`,
  );
}
