import { ValidateIf } from 'class-validator';

/** The property of a body can be omitted but not null. */
export function Omittable(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined);
}
