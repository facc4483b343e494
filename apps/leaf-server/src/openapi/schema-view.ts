import type { Schema } from './schema';

/** One value within a body, for the page. */
export interface Field {
  /** The way to it, as `ranges[].from`. */
  readonly name: string;
  readonly rule: string;
  readonly required: boolean;
  readonly description: string;
}

/** Looks at schemas whose named parts are references. */
export class SchemaView {
  constructor(private readonly named: Readonly<Record<string, Schema>>) {}

  /** The values of an object or a list of objects, those of its parts behind each. */
  fields(schema: Schema, prefix = ''): Field[] {
    const { items, properties = {}, required = [] } = this.resolved(schema);
    if (items !== undefined) return this.fields(items, `${prefix}[]`);
    return Object.entries(properties).flatMap(([name, given]) => {
      const property = this.resolved(given);
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const { description = '' } = property;
      return [
        { name: path, rule: this.rule(property), required: required.includes(name), description },
        ...this.fields(property, path),
      ];
    });
  }

  /** Type and limits in a few words; what a pattern says is told by the description. */
  rule(given: Schema): string {
    const schema = this.resolved(given);
    const { type = 'any', minimum, maximum, maxLength, enum: values, items, additionalProperties } = schema;
    if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' or ');
    const kind = items === undefined ? type : `list of ${this.rule(items)}`;
    const parts = [
      typeof additionalProperties === 'object' ? `${kind}, any name to ${this.rule(additionalProperties)}` : kind,
      ...(minimum === undefined ? [] : [maximum === undefined ? `from ${minimum}` : `${minimum} to ${maximum}`]),
      ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
      ...(schema.nullable === true ? ['or null'] : []),
      ...(schema.default === undefined ? [] : [`${JSON.stringify(schema.default)} when left out`]),
    ];
    return parts.join(', ');
  }

  /** A value of this kind. */
  sample(given: Schema): unknown {
    const schema = this.resolved(given);
    const { example, enum: values, type, items, properties, additionalProperties } = schema;
    if (example !== undefined) return example;
    if (schema.default !== undefined) return schema.default;
    if (values !== undefined) return values[0];
    if (items !== undefined) return [this.sample(items)];
    if (properties !== undefined) {
      return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, this.sample(property)]));
    }
    if (typeof additionalProperties === 'object') return { name: this.sample(additionalProperties) };
    if (type === 'integer' || type === 'number') return schema.minimum ?? 0;
    if (type === 'boolean') return true;
    return schema.nullable === true ? null : '…';
  }

  resolved(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema;
    return this.named[schema.$ref.slice('#/components/schemas/'.length)] ?? {};
  }
}
