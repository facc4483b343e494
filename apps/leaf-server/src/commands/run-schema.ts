import { type DialectName, schemaStatements } from '@leaf-ids/persistence';

/**
 * `leaf-server schema mysql|postgres|sqlite`: prints the SQL that creates the tables in an empty database. Opens no
 * connection and reads no settings.
 */
export async function runSchema(dialect: DialectName): Promise<void> {
  const text = (await schemaStatements(dialect)).map((line) => `${line};\n`).join('');
  process.stdout.write(
    `-- The tables of Leaf for an empty ${dialect} database. Run this once, before the first start.\n${text}`,
  );
}
