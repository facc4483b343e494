import { LeafError, messageOf } from '../errors/leaf-error';
import { nearestName } from './nearest-name';

/**
 * Checks the value of one option.
 *
 * @param name path of the option: `segment.waitMs`
 * @returns a message for each fault. Undefined has none: the option is omitted, unless it is {@link required}
 */
export type Rule = (value: unknown, name: string) => readonly string[];

/** A rule for each option; of a union, for each option of any member. */
export type Rules<Options> = { readonly [Name in NamesOf<Options>]-?: Rule };

type NamesOf<Options> = Options extends unknown ? keyof Options : never;

const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** @param wanted the allowed values: `a whole number of 1 or more` */
export function rule(wanted: string, fits: (value: unknown) => boolean): Rule {
  return (value, name) =>
    value === undefined || fits(value) ? [] : [`${name} must be ${wanted}, not ${describe(value)}`];
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

export function required(each: Rule): Rule {
  return (value, name) => (value === undefined ? [`${name} is required`] : each(value, name));
}

/** The first rule, and the second for values without a fault. */
export function both(first: Rule, second: Rule): Rule {
  return (value, name) => {
    const faults = first(value, name);
    return faults.length > 0 || value === undefined ? faults : second(value, name);
  };
}

/** A value that `parse` accepts. Its error is the fault: the value may be a secret. */
export function accepted(parse: (value: never) => unknown): Rule {
  return (value, name) => {
    if (value === undefined) return [];
    try {
      parse(value as never);
      return [];
    } catch (error) {
      return [`${name}: ${messageOf(error).replace(/\.$/, '')}`];
    }
  };
}

/** A rule for strings, and one for all other values. */
export function textOr(ofText: Rule, other: Rule): Rule {
  return (value, name) => (typeof value === 'string' ? ofText : other)(value, name);
}

export function list(each: Rule): Rule {
  const array = rule('an array', Array.isArray);
  return both(array, (value, name) =>
    (value as readonly unknown[]).flatMap((item, index) => required(each)(item, `${name}[${index}]`)),
  );
}

/** An object with any names, and a rule for its values. */
export function record(each: Rule): Rule {
  return both(plain, (value, name) =>
    Object.entries(value as object).flatMap(([key, item]) => required(each)(item, `${name}[${JSON.stringify(key)}]`)),
  );
}

/** An object with these options only. The path of the options of a module is the empty string. */
export function object(rules: Readonly<Record<string, Rule>>): Rule {
  const names = Object.keys(rules);
  return both(plain, (value, name) => {
    const path = (option: string): string => (name === '' ? option : `${name}.${option}`);
    const unknown = Object.keys(value as object).filter((option) => !names.includes(option));
    return [
      ...unknown.map((option) => {
        const meant = nearestName(option, names);
        const hint = meant === undefined ? `the options are ${names.join(', ')}` : `did you mean ${path(meant)}?`;
        return `unknown option ${path(option)}; ${hint}`;
      }),
      ...Object.entries(rules).flatMap(([option, each]) => {
        const given: unknown = Reflect.get(value as object, option);
        // Options are copied: what an object inherits would be checked and then lost.
        if (given === undefined || Object.hasOwn(value as object, option)) return each(given, path(option));
        return [`${path(option)} must be a property of the object itself, not of its class`];
      }),
    ];
  });
}

/** Exactly one of these options of an object must be given. */
export function exactlyOne(...names: readonly string[]): Rule {
  return (value, name) => {
    const given = names.filter((option) => Reflect.get(value as object, option) !== undefined);
    return given.length === 1 ? [] : [`${name} must have exactly one of ${names.join(', ')}`];
  };
}

/**
 * Checks the options of `subject`, a class or a module.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults, if there are any
 */
export function assertOptions(subject: string, each: Rule, options: unknown): void {
  refuseFaults(subject, isObject(options) ? each(options, '') : [`they must be an object, not ${describe(options)}`]);
}

/** @throws LeafError `LEAF_CONFIG_INVALID` that lists all faults, if there are any */
export function refuseFaults(subject: string, faults: readonly string[]): void {
  if (faults.length === 0) return;
  const lines = faults.map((fault) => `\n  - ${fault}`).join('');
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
