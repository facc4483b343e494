import { LeafError } from './errors/leaf-error';

/** Allowed values of a numeric option. */
export interface NumberRule {
  readonly min: number;
  /** No upper bound by default. */
  readonly max?: number;
  /** Whether fractions are allowed; false by default. */
  readonly fraction?: boolean;
}

/**
 * Checks numeric options and returns one message per fault. `NaN`, strings and missing values are faults.
 *
 * @param values by option name
 */
export function numberFaults(values: object, rules: Readonly<Record<string, NumberRule>>): string[] {
  return Object.entries(rules).flatMap(([name, { min, max = Number.MAX_SAFE_INTEGER, fraction = false }]) => {
    const value: unknown = Reflect.get(values, name);
    const fits = typeof value === 'number' && value >= min && value <= max && (fraction || Number.isInteger(value));
    if (fits) return [];
    const kind = fraction ? 'a number' : 'a whole number';
    const bounds = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
    return [`${name} must be ${kind} ${bounds}, not ${describe(value)}`];
  });
}

/** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults, if there are any */
export function refuseFaults(subject: string, faults: readonly string[]): void {
  if (faults.length === 0) return;
  const list = faults.map((fault) => `\n  - ${fault}`).join('');
  throw new LeafError('LEAF_CONFIG_INVALID', `The options of ${subject} are invalid:${list}`);
}

/** @throws LeafError `LEAF_SIZE_INVALID` unless `count` is a whole number from 1 to `most` */
export function assertCount(count: number, most: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= most) return;
  throw new LeafError('LEAF_SIZE_INVALID', `The size must be a whole number from 1 to ${most}.`);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
