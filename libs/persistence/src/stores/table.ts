import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';

/** The numbers that a column must be able to store. */
export type Width = 'any' | 'int' | 'bigint';

/** How an engine reads numbers and times without a loss. */
export interface ReadDialect {
  /** An expression for an integer as decimal text: JavaScript numbers are exact to 2^53 only. */
  readonly decimal: (value: string) => string;
  /** Time of the last write of a row, in Unix seconds. */
  readonly updated: string;
}

export interface Column {
  /** Checked at the start; undefined: any type will do. */
  readonly width?: Width;
  /** A migration adds it to an existing table. */
  readonly added?: true;
  readonly isKey?: true;
  /** The expression that reads it; undefined: the column, or decimal text if it has the width `bigint`. */
  readonly read?: (dialect: ReadDialect) => string;
}

export type Columns = Readonly<Record<string, Column>>;

export const KEY: Column = { width: 'any', isKey: true };
export const TEXT: Column = { width: 'any' };
export const INT: Column = { width: 'int' };
export const BIGINT: Column = { width: 'bigint' };

export function added(column: Column): Column {
  return { ...column, added: true };
}

/** The start of a SELECT of whole rows, for statements of a transaction. */
export function selectFrom(table: string, columns: Columns, dialect: ReadDialect): string {
  const list = Object.entries(columns).map(([name, column]) => `${reading(name, column, dialect) ?? name} AS ${name}`);
  return `SELECT ${list.join(', ')} FROM ${table}`;
}

/** The entity of a table. A schema, because it has the same columns as the check of the table. */
export function entityOf(target: new () => object, tableName: string, columns: Columns): EntitySchema {
  const schemas = Object.entries(columns).map(([name, { width, isKey }]): [string, EntitySchemaColumnOptions] => [
    name,
    { type: width === 'int' ? 'int' : 'varchar', nullable: true, primary: isKey === true },
  ]);
  return new EntitySchema({ name: target.name, target, tableName, columns: Object.fromEntries(schemas) });
}

/** The expression that reads a column; undefined: the column itself. */
export function reading(name: string, { width, read }: Column, dialect: ReadDialect): string | undefined {
  return read?.(dialect) ?? (width === 'bigint' ? dialect.decimal(name) : undefined);
}
