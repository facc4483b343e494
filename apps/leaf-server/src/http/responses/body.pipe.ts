import type { PipeTransform, Type } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { LeafError } from '@leaf-ids/core';

/** Number of errors listed in one response. */
const MAX_FAULTS = 10;
const SHOWN_LENGTH = 40;

/** Converts a JSON body to an instance of a class and validates it by its decorators. Unknown properties are errors. */
export class BodyPipe<T extends object> implements PipeTransform<unknown, Promise<T>> {
  /**
   * @param load loads the class; called for every body
   * @param missing stands for a request without a body; by default, that is an error
   */
  constructor(
    private readonly load: () => Promise<Type<T>>,
    private readonly missing?: object,
  ) {}

  /** @throws LeafError `LEAF_BODY_INVALID` listing every error */
  async transform(body: unknown): Promise<T> {
    const given: unknown = body ?? this.missing;
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw invalid(['it must be a JSON object']);
    }
    const [type, { validate }] = await Promise.all([this.load(), import('class-validator')]);
    const entries = Object.entries(given);
    // A property such as "constructor" would change how class-validator inspects the body.
    const builtIn = entries.filter(([name]) => name in Object.prototype);
    const checked = Object.assign(new type(), Object.fromEntries(entries.filter((entry) => !builtIn.includes(entry))));
    const errors = await validate(checked, { whitelist: true, forbidNonWhitelisted: true });
    const faults = [...errors.flatMap(faultsOf), ...builtIn.map(([name]) => unknown(name))];
    if (faults.length > 0) throw invalid(faults);
    return checked;
  }
}

/** Without duplicates: the rules of one property mostly share a message. */
function faultsOf({ property, constraints = {} }: ValidationError): string[] {
  const { whitelistValidation, ...rules } = constraints;
  return [...(whitelistValidation === undefined ? [] : [unknown(property)]), ...new Set(Object.values(rules))];
}

function unknown(name: string): string {
  const shown = name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}…` : name;
  return `${JSON.stringify(shown)} is an unknown property`;
}

function invalid(faults: readonly string[]): LeafError {
  const more = faults.length > MAX_FAULTS ? `; and ${faults.length - MAX_FAULTS} more` : '';
  return new LeafError('LEAF_BODY_INVALID', `Invalid body: ${faults.slice(0, MAX_FAULTS).join('; ')}${more}.`);
}
