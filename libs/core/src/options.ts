import { LeafError } from './errors/leaf-error';

/** What a number among the options has to be. */
export interface NumberRule {
  readonly min: number;
  /** Above it, it is a fault; no bound when left out. */
  readonly max?: number;
  /** Fractions are allowed; whole numbers only when left out. */
  readonly fraction?: boolean;
}

/**
 * What is wrong with numbers among options, one sentence each. `NaN`, text and missing values are faults like any other.
 *
 * @param values by the name of the option
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

/** @throws LeafError `LEAF_CONFIG_INVALID` naming every fault, when there is one */
export function refuseFaults(subject: string, faults: readonly string[]): void {
  if (faults.length === 0) return;
  const list = faults.map((fault) => `\n  - ${fault}`).join('');
  throw new LeafError('LEAF_CONFIG_INVALID', `The options of ${subject} are invalid:${list}`);
}

/** @throws LeafError `LEAF_SIZE_INVALID` for another number of IDs than 1 to `most` */
export function assertCount(count: number, most: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= most) return;
  throw new LeafError('LEAF_SIZE_INVALID', `The size must be a whole number from 1 to ${most}.`);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
