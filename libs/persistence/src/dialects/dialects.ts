import type { Dialect } from './dialect';
import { mysql } from './mysql';
import { postgres } from './postgres';
import { sqlite } from './sqlite';

const LIST = { mysql, postgres, sqlite };

export type DialectName = keyof typeof LIST;

export const DIALECT_NAMES = Object.keys(LIST) as DialectName[];

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = LIST;

/** Settings of databases that decide whether what was confirmed is kept. */
export const DURABILITY_SETTINGS = Object.values(DIALECTS).flatMap(({ session }) => session.durabilitySettings);
