import type { Dialect } from './shared/dialect';
import { mysql } from './mysql/mysql';
import { postgres } from './postgres/postgres';
import { sqlite } from './sqlite/sqlite';

const LIST = { mysql, postgres, sqlite };

export type DialectName = keyof typeof LIST;

export const DIALECT_NAMES = Object.keys(LIST) as DialectName[];

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = LIST;

/** The database settings that decide whether commits are durable. */
export const DURABILITY_SETTINGS = Object.values(DIALECTS).flatMap(({ session }) => session.durabilitySettings);
