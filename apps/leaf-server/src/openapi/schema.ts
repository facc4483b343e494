/** The part of JSON Schema that OpenAPI 3.0 understands and this server needs. */
export interface Schema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';
  /** Makes it a component of this name; only {@link object} gives one. */
  readonly title?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly (string | number | boolean)[];
  readonly nullable?: boolean;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly additionalProperties?: boolean | Schema;
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
}

/**
 * An object with the properties of `T`: one that is forgotten here, or is not there any more, is a fault of the types.
 *
 * @param title its name among the components of the document
 * @param optional the properties that may be left out
 */
export function object<T extends object>(
  title: string,
  properties: Readonly<Record<keyof T & string, Schema>>,
  optional: readonly (keyof T & string)[] = [],
): Schema {
  const left: readonly string[] = optional;
  const required = Object.keys(properties).filter((name) => !left.includes(name));
  return { title, type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

export function arrayOf(items: Schema): Schema {
  return { type: 'array', items };
}

/** An object of any names, all with values of one kind. */
export function mapOf(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

export function text(description: string, example?: string): Schema {
  return { type: 'string', description, ...(example === undefined ? {} : { example }) };
}

export function wholeNumber(description: string, example?: number): Schema {
  return { type: 'integer', description, ...(example === undefined ? {} : { example }) };
}

export function number(description: string, example?: number): Schema {
  return { type: 'number', description, ...(example === undefined ? {} : { example }) };
}

export function truth(description: string): Schema {
  return { type: 'boolean', description };
}

/** A named one is so wherever it is used: a reference has no room for more. */
export function orNull(schema: Schema): Schema {
  return { ...schema, nullable: true };
}
