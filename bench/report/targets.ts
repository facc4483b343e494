import { formatTable, significant } from '../../test/support/table';

/** A number for comparing two builds. */
export interface Figure {
  readonly name: string;
  /** Null if not measured or without a result. */
  readonly value: number | null;
  /** `IDs/s`, `ms`, `MiB` …; `ratio` for values without a unit. */
  readonly unit: string;
}

/** A figure with a target value. */
export interface Target extends Figure {
  readonly relation: '>=' | '<' | '<=';
  readonly target: number;
  readonly reached: boolean;
}

/** @param value NaN or undefined if it could not be measured; then the target is missed */
export function atLeast(name: string, value: number | undefined, target: number, unit: string): Target {
  const known = finite(value);
  return { name, value: known, unit, relation: '>=', target, reached: known !== null && known >= target };
}

/** @param value NaN or undefined if it could not be measured; then the target is missed */
export function below(name: string, value: number | undefined, target: number, unit: string): Target {
  const known = finite(value);
  return { name, value: known, unit, relation: '<', target, reached: known !== null && known < target };
}

/** @param value NaN or undefined if it could not be measured; then the target is missed */
export function atMost(name: string, value: number | undefined, target: number, unit: string): Target {
  const known = finite(value);
  return { name, value: known, unit, relation: '<=', target, reached: known !== null && known <= target };
}

/** @param value NaN or undefined if it could not be measured */
export function figure(name: string, value: number | undefined, unit: string): Figure {
  return { name, value: finite(value), unit };
}

/** JSON cannot represent NaN and Infinity. */
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
