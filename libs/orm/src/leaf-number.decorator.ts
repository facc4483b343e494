import 'reflect-metadata';
import { Column } from 'typeorm';
import { assertTag } from '@leaf-ids/core/internal';

const METADATA = 'leaf:numbers';
/** The longest pattern with the longest number. */
const LENGTH = 160;

export interface NumberOptions<Entity> {
  /** The key of the document: the same for every attempt to insert it. */
  readonly key: (entity: Entity) => string;
  /** A time in the period of the document; by default the time of the commit. */
  readonly date?: (entity: Entity) => Date;
  /** Name of the column; by default that of the property. */
  readonly name?: string;
}

/** A property that gets a number without gaps. */
export interface NumberedProperty {
  readonly property: string;
  readonly tag: string;
  readonly keyOf: (entity: object) => string;
  readonly dateOf: (entity: object) => Date | undefined;
}

/**
 * A text column that gets the next number of a gapless tag when the transaction of the insert commits: its text if the
 * tag has a pattern, otherwise the number in decimal. Null until then. Replaces `@Column()`, and requires a
 * `LeafNumberSubscriber` on the data source.
 *
 * @throws LeafError `LEAF_TAG_INVALID`
 * @example @LeafNumber<Invoice>('invoice', { key: ({ id }) => id }) number!: string | null;
 */
export function LeafNumber<Entity extends object>(
  tag: string,
  { key, date, name }: NumberOptions<Entity>,
): PropertyDecorator {
  assertTag(tag);
  return (prototype, propertyName) => {
    const property = String(propertyName);
    const numbered: NumberedProperty = {
      ...{ property, tag },
      keyOf: (entity) => key(entity as Entity),
      dateOf: (entity) => date?.(entity as Entity),
    };
    const entity = prototype.constructor;
    Reflect.defineMetadata(METADATA, [...numberedProperties(entity), numbered], entity);
    // Without `update: false`, an upsert of an existing row would overwrite its number.
    Column({ ...(name === undefined ? {} : { name }), type: 'varchar', length: LENGTH, nullable: true, update: false })(
      prototype,
      propertyName,
    );
  };
}

export function numberedProperties(entity: object): readonly NumberedProperty[] {
  return (Reflect.getMetadata(METADATA, entity) as readonly NumberedProperty[] | undefined) ?? [];
}
