import { formatTable, significant } from './table';

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Median, minimum and maximum of at least one value. */
export function summarize(values: readonly number[]): Summary {
  if (values.length === 0) throw new Error('No values to summarize.');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
  return { median, min: sorted[0]!, max: sorted[sorted.length - 1]! };
}

/** Undefined unless every value is known. */
export function summarizeKnown(values: readonly (number | undefined)[]): Summary | undefined {
  const known = values.filter((value): value is number => value !== undefined && Number.isFinite(value));
  return known.length === values.length && known.length > 0 ? summarize(known) : undefined;
}

/** Ratios of values of the same round, because disturbances affect both sides of a round. */
export function ratios(values: readonly number[], baseline: readonly number[]): number[] {
  return values.map((value, round) => value / baseline[round]!);
}

/** A number for comparing two builds. */
export interface Figure {
  readonly name: string;
  /** Null if not measured or without a result. */
  readonly value: number | null;
  /** `IDs/s`, `ms`, `MiB` …; `ratio` for values without a unit. */
  readonly unit: string;
}

const RELATIONS = {
  '>=': (value: number, target: number) => value >= target,
  '<': (value: number, target: number) => value < target,
  '<=': (value: number, target: number) => value <= target,
};

/** A figure with a target value. */
export interface Target extends Figure {
  readonly relation: keyof typeof RELATIONS;
  readonly target: number;
  readonly reached: boolean;
}

type Value = number | undefined;

/** @param value NaN or undefined if it could not be measured; JSON has neither NaN nor Infinity */
export function figure(name: string, value: Value, unit: string): Figure {
  return { name, value: value !== undefined && Number.isFinite(value) ? value : null, unit };
}

/** A target whose value is not known is missed. */
function targetsWith(relation: Target['relation']) {
  return (name: string, measured: Value, target: number, unit: string): Target => {
    const { value } = figure(name, measured, unit);
    return { name, value, unit, relation, target, reached: value !== null && RELATIONS[relation](value, target) };
  };
}

export const atLeast = targetsWith('>=');
export const below = targetsWith('<');
export const atMost = targetsWith('<=');

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
