import { LeafError, messageOf } from '../errors/leaf-error';

/** What is wrong with an option. Who prints it chooses the name of the option. */
export interface Fault {
  /** Path of the option: `segment.waitMs`; empty for the options themselves. */
  readonly path: string;
  /** The message without the name: `must be true or false, not 5`. */
  readonly fault: string;
}

/**
 * Checks the value of one option.
 *
 * @returns its faults. Undefined has none: the option is omitted, unless it is {@link required}
 */
export type Rule = (value: unknown, path: string) => readonly Fault[];

/** A rule for each option; of a union, for each option of any member. */
export type Rules<Options> = { readonly [Name in NamesOf<Options>]-?: Rule };

type NamesOf<Options> = Options extends unknown ? keyof Options : never;

const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** @param wanted the allowed values: `a whole number of 1 or more` */
export function rule(wanted: string, fits: (value: unknown) => boolean): Rule {
  return (value, path) =>
    value === undefined || fits(value) ? [] : [{ path, fault: `must be ${wanted}, not ${describe(value)}` }];
}

/** A rule with a message of its own, which does not show the value. */
export function that(fault: string, fits: (value: never) => boolean): Rule {
  return (value, path) => (value === undefined || fits(value as never) ? [] : [{ path, fault }]);
}

export const flag = rule('true or false', (value) => typeof value === 'boolean');

export const anyText = rule('a string', (value) => typeof value === 'string');

export const text = rule('a string that is not empty', (value) => typeof value === 'string' && value !== '');

export const callback = rule('a function', (value) => typeof value === 'function');

export const bigint = rule('a bigint such as 1n', (value) => typeof value === 'bigint');

/** A whole number; without an upper bound by default. */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER): Rule {
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  return rule(`a whole number ${bounds}`, (value) => Number.isSafeInteger(value) && isWithin(value, min, max));
}

/** Milliseconds that a timer of Node.js can wait: a longer delay would be one of 1 ms. */
export function milliseconds(min: number): Rule {
  return whole(min, 2 ** 31 - 1);
}

export function fraction(min: number, max: number): Rule {
  return rule(`a number from ${min} to ${max}`, (value) => isWithin(value, min, max));
}

export function oneOf(...values: readonly string[]): Rule {
  const wanted = values.map((value) => JSON.stringify(value));
  return rule(OR.format(wanted), (value) => typeof value === 'string' && values.includes(value));
}

/** Any object with this method: an instance of a class, also of another copy of its package. */
export function having(method: string, wanted: string): Rule {
  return rule(wanted, (value) => isObject(value) && typeof Reflect.get(value, method) === 'function');
}

export function required(each: Rule, fault = 'is required'): Rule {
  return (value, path) => (value === undefined ? [{ path, fault }] : each(value, path));
}

/** The first rule, and the second for values without a fault. */
export function both(first: Rule, second: Rule): Rule {
  return (value, path) => {
    const faults = first(value, path);
    return faults.length > 0 || value === undefined ? faults : second(value, path);
  };
}

/** The error of a parser: what is parsed, and what is wrong with it, as in a {@link Fault}. */
export class InvalidValueError extends LeafError {
  constructor(
    what: string,
    readonly fault: string,
    cause?: unknown,
  ) {
    super('LEAF_CONFIG_INVALID', `The ${what} ${fault}.`, { cause });
  }
}

/** A value that `parse` accepts. Its error is the fault: the value may be a secret. */
export function accepted(parse: (value: never) => unknown): Rule {
  return (value, path) => {
    if (value === undefined) return [];
    try {
      parse(value as never);
      return [];
    } catch (error) {
      if (error instanceof InvalidValueError) return [{ path, fault: error.fault }];
      return [{ path, fault: `cannot be used: ${messageOf(error).replace(/\.$/, '')}` }];
    }
  };
}

/** A rule for strings, and one for all other values. */
export function textOr(ofText: Rule, other: Rule): Rule {
  return (value, path) => (typeof value === 'string' ? ofText : other)(value, path);
}

export function list(each: Rule): Rule {
  const array = rule('an array', Array.isArray);
  return both(array, (value, path) =>
    (value as readonly unknown[]).flatMap((item, index) => required(each)(item, `${path}[${index}]`)),
  );
}

/** An object with any names, and a rule for its values. */
export function record(each: Rule): Rule {
  return both(plain, (value, path) =>
    Object.entries(value as object).flatMap(([key, item]) => required(each)(item, `${path}[${JSON.stringify(key)}]`)),
  );
}

/** The path of an option of the options at `parent`. */
export function pathOf(parent: string, option: string): string {
  return parent === '' ? option : `${parent}.${option}`;
}

/** An object with these options only. */
export function object(rules: Readonly<Record<string, Rule>>): Rule {
  const names = Object.keys(rules);
  return both(plain, (value, parent) => {
    const unknown = Object.keys(value as object).filter((option) => !names.includes(option));
    return [
      ...unknown.map((option) => {
        const meant = nearestName(option, names);
        const hint =
          meant === undefined ? `the options are ${names.join(', ')}` : `did you mean ${pathOf(parent, meant)}?`;
        return { path: pathOf(parent, option), fault: `is not an option; ${hint}` };
      }),
      ...Object.entries(rules).flatMap(([option, each]) => {
        const given: unknown = Reflect.get(value as object, option);
        const path = pathOf(parent, option);
        // Options are copied: what an object inherits would be checked and then lost.
        if (given === undefined || Object.hasOwn(value as object, option)) return each(given, path);
        return [{ path, fault: 'must be a property of the object itself, not of its class' }];
      }),
    ];
  });
}

/** Exactly one of these options of an object must be given. */
export function exactlyOne(...names: readonly string[]): Rule {
  return that(
    `must have exactly one of ${names.join(', ')}`,
    (options: object) => names.filter((option) => Reflect.get(options, option) !== undefined).length === 1,
  );
}

/**
 * Checks the options of `subject`, a class or a module.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults, if there are any
 */
export function assertOptions(subject: string, each: Rule, options: unknown): void {
  refuseFaults(subject, required(each, 'must be an object, not undefined')(options, ''));
}

/** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults, if there are any */
export function refuseFaults(subject: string, faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ path, fault }) => `\n  - ${path || 'they'} ${fault}`).join('');
  throw new LeafError('LEAF_CONFIG_INVALID', `The options of ${subject} are invalid:${lines}`);
}

/** The given options, and the default of each that is omitted or undefined. */
export function withDefaults<Defaults extends object, Given extends object>(
  defaults: Defaults,
  given: Given,
): Defaults & Given {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(entries) as Given) };
}

/** @throws LeafError `LEAF_SIZE_INVALID` unless `count` is a whole number from 1 to `most` */
export function assertCount(count: number, most: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= most) return;
  throw new LeafError('LEAF_SIZE_INVALID', `The size must be a whole number from 1 to ${most}.`);
}

const plain = rule('an object', (value) => isObject(value) && !Array.isArray(value));

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

/** Hides what may be a password: what follows the scheme of a URL, or precedes an @. */
function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.replace(/:\/\/.*/s, '://…').replace(/^.*@/s, '…@'));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'an array';
  return isObject(value) ? 'an object' : String(value);
}

/** The name that a misspelled one most likely means, ignoring case; undefined if none is close. */
export function nearestName(misspelled: string, names: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(misspelled.length / 3));
  const close = names
    .map((name) => ({ name, edits: editDistance(misspelled.toLowerCase(), name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit);
  return close.sort((a, b) => a.edits - b.edits)[0]?.name;
}

/** The Damerau–Levenshtein distance: how many characters to insert, delete, replace or swap with the next one. */
function editDistance(from: string, to: string): number {
  let above: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let index = 1; index <= to.length; index++) {
      const isSwap = from[line - 1] === to[index - 2] && from[line - 2] === to[index - 1];
      const { [index]: deleted = 0, [index - 1]: replaced = 0 } = row;
      const same = from[line - 1] === to[index - 1] ? 0 : 1;
      const swapped = isSwap ? (above[index - 2] ?? Infinity) : Infinity;
      next.push(Math.min(replaced + same, deleted + 1, (next[index - 1] ?? 0) + 1, swapped + 1));
    }
    [above, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
