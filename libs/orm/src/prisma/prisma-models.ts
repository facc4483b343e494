import { LeafError } from '@leaf-ids/core';
import { assertTag } from '@leaf-ids/core/internal';

/** A model of the Prisma schema. A model without `tag` and `snowflake` has no key of Leaf. */
export interface PrismaModel {
  /** The tag whose segment IDs are the keys. */
  readonly tag?: string;
  /** The keys are snowflake IDs. */
  readonly snowflake?: true;
  /** The field of the key; `id` by default. */
  readonly field?: string;
  /** The relation fields through which rows are created, with the name of the model at their other end. */
  readonly relations?: Readonly<Record<string, string>>;
}

/** Models by their name in the schema. */
export type PrismaModels = Readonly<Record<string, PrismaModel>>;

/** @throws LeafError `LEAF_CONFIG_INVALID`, `LEAF_TAG_INVALID` */
export function assertModels(models: PrismaModels): void {
  for (const [name, { tag, snowflake, relations = {} }] of Object.entries(models)) {
    if (tag !== undefined) assertTag(tag);
    if (tag !== undefined && snowflake) throw invalid(`The Prisma model ${name} has both "tag" and "snowflake"`);
    for (const [field, model] of Object.entries(relations)) {
      if (!Object.hasOwn(models, model)) {
        throw invalid(`${name}.${field} refers to the Prisma model ${model}, which is not listed`);
      }
    }
  }
}

function invalid(problem: string): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `${problem}.`);
}
