import { formatTable, significant } from './table';

/** One number by which two builds can be compared. */
export interface Figure {
  readonly name: string;
  /** Null: not measured, or nothing came out. */
  readonly value: number | null;
  /** `IDs/s`, `ms`, `MiB` …; `ratio` for what has none. */
  readonly unit: string;
}

/** A figure with a mark that it should reach. */
export interface Target extends Figure {
  readonly relation: '>=' | '<';
  readonly target: number;
  readonly reached: boolean;
}

/** @param value NaN or undefined when it could not be measured, which is never a target reached */
export function atLeast(name: string, value: number | undefined, target: number, unit: string): Target {
  const known = finite(value);
  return { name, value: known, unit, relation: '>=', target, reached: known !== null && known >= target };
}

/** @param value NaN or undefined when it could not be measured, which is never a target reached */
export function below(name: string, value: number | undefined, target: number, unit: string): Target {
  const known = finite(value);
  return { name, value: known, unit, relation: '<', target, reached: known !== null && known < target };
}

/** @param value NaN or undefined when it could not be measured */
export function figure(name: string, value: number | undefined, unit: string): Figure {
  return { name, value: finite(value), unit };
}

/** JSON has no NaN and no infinity. */
function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

export function describeTargets(targets: readonly Target[]): string {
  const rows = targets.map(({ name, value, unit, relation, target, reached }) => [
    name,
    value === null ? 'not measured' : significant(value),
    `${relation} ${significant(target)}`,
    unit,
    reached ? 'reached' : 'MISSED',
  ]);
  return formatTable(['target', 'value', 'wanted', 'unit', ''], rows);
}
