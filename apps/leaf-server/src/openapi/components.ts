import type { Schema } from './schema';

/** The schemas that the document names once and refers to. */
export class Components {
  private readonly named = new Map<string, Schema>();

  /** All of them, by name. */
  get schemas(): Record<string, Schema> {
    return Object.fromEntries([...this.named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** `schema` with a reference in the place of every part that has a title. */
  refer(schema: Schema): Schema {
    const { title, ...rest } = schema;
    const referred: Schema = {
      ...rest,
      ...(schema.items === undefined ? {} : { items: this.refer(schema.items) }),
      ...(schema.allOf === undefined ? {} : { allOf: schema.allOf.map((part) => this.refer(part)) }),
      ...(schema.properties === undefined ? {} : { properties: this.referAll(schema.properties) }),
      ...(typeof schema.additionalProperties === 'object'
        ? { additionalProperties: this.refer(schema.additionalProperties) }
        : {}),
    };
    if (title === undefined) return referred;
    const known = this.named.get(title);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(referred)) {
      throw new Error(`Two schemas are called ${title}.`);
    }
    this.named.set(title, referred);
    return { $ref: `#/components/schemas/${title}` };
  }

  private referAll(properties: Readonly<Record<string, Schema>>): Record<string, Schema> {
    return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, this.refer(schema)]));
  }
}
