import type { PipeTransform, Type } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { LeafError } from '@leaf-ids/core';

/** Faults named in one answer. */
const MOST_FAULTS = 10;
const SHOWN_LENGTH = 40;

/** Makes of a JSON body an instance of a class whose decorators say what is allowed; unknown properties are not. */
export class BodyPipe<T extends object> implements PipeTransform<unknown, Promise<T>> {
  /** @param load called for every body */
  constructor(private readonly load: () => Promise<Type<T>>) {}

  /** @throws LeafError `LEAF_BODY_INVALID` with every fault */
  async transform(given: unknown): Promise<T> {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw invalid(['it must be a JSON object']);
    }
    const [type, { validate }] = await Promise.all([this.load(), import('class-validator')]);
    const entries = Object.entries(given);
    // "constructor" as a property would change how the body is looked at.
    const builtIn = entries.filter(([name]) => name in Object.prototype);
    const body = Object.assign(new type(), Object.fromEntries(entries.filter((entry) => !builtIn.includes(entry))));
    const errors = await validate(body, { whitelist: true, forbidNonWhitelisted: true });
    const faults = [...errors.flatMap(faultsOf), ...builtIn.map(([name]) => unknown(name))];
    if (faults.length > 0) throw invalid(faults);
    return body;
  }
}

/** The rules of one property mostly share their message. */
function faultsOf({ property, constraints = {} }: ValidationError): string[] {
  const { whitelistValidation, ...rules } = constraints;
  return [...(whitelistValidation === undefined ? [] : [unknown(property)]), ...new Set(Object.values(rules))];
}

function unknown(name: string): string {
  const shown = name.length > SHOWN_LENGTH ? `${name.slice(0, SHOWN_LENGTH)}…` : name;
  return `${JSON.stringify(shown)} is no property of it`;
}

function invalid(faults: readonly string[]): LeafError {
  const more = faults.length > MOST_FAULTS ? `; and ${faults.length - MOST_FAULTS} more` : '';
  return new LeafError('LEAF_BODY_INVALID', `The body is refused: ${faults.slice(0, MOST_FAULTS).join('; ')}${more}.`);
}
