import { type IdFormat, type IdService, LeafError } from '@leaf-ids/core';
import { assertTag } from '@leaf-ids/core/internal';
import { assignIds } from '../assign-ids';

/** An operation of Prisma, as its extensions receive it. */
interface Operation {
  readonly model: string;
  readonly operation: string;
  /** A copy of what the caller passed. */
  readonly args: unknown;
  readonly query: (args: never) => Promise<unknown>;
}

/** An extension for `$extends`. */
export interface LeafKeysExtension {
  readonly name: string;
  readonly query: {
    readonly $allModels: {
      /** Declared as `never` because its result is that of the operation, whatever its type. */
      $allOperations(operation: Operation): Promise<never>;
    };
  };
}

/**
 * A Prisma extension that fills the keys of new rows, at the top level and in nested writes, unless they have a value.
 * An operation allocates all IDs of a model at once, and rejects with a `LeafError` when no IDs are available.
 *
 * Declare the keys as `BigInt @id @default(dbgenerated())`. A row that the extension does not see, for example because
 * a relation is not listed, then has no key, and the database rejects it.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`, `LEAF_TAG_INVALID`
 * @example new PrismaClient({ adapter }).$extends(leafKeys(ids, { Order: { tag: 'order' } }))
 */
export function leafKeys(ids: IdService, models: PrismaModels): LeafKeysExtension {
  assertModels(models);
  return {
    name: 'leaf-keys',
    query: {
      $allModels: {
        async $allOperations({ model, operation, args, query }) {
          await fillKeys(ids, models, newRows(models, model, operation, args));
          return query(args as never) as Promise<never>;
        },
      },
    },
  };
}

async function fillKeys(ids: IdService, models: PrismaModels, rows: readonly NewRow[]): Promise<void> {
  for (const [name, { tag, snowflake, field = 'id' }] of Object.entries(models)) {
    if (tag === undefined && !snowflake) continue;
    const missing = rows.flatMap(({ model, data }) => (model === name && lacksKey(name, data, field) ? [data] : []));
    await assignIds(ids, tag, missing.length, (index, id) => {
      const data = missing[index];
      if (data !== undefined) data[field] = id;
    });
  }
}

function lacksKey(model: string, data: NewRow['data'], field: string): boolean {
  const key = data[field];
  if (key === undefined) return true;
  if (key !== 0 && key !== 0n) return false;
  throw new LeafError(
    'LEAF_REQUEST_INVALID',
    `0 is not a valid key for ${model}.${field}; omit the field for a new ID.`,
  );
}

type Fields = Record<string, unknown>;

/** A row that an operation creates. */
interface NewRow {
  readonly model: string;
  readonly data: Fields;
}

/** The rows that an operation creates, in its nested writes as well, in the order of the arguments. */
function newRows(models: PrismaModels, model: string, operation: string, args: unknown): NewRow[] {
  const rows: NewRow[] = [];

  /** The fields of a row, and the nested writes among them. */
  function addFields(name: string, data: unknown): void {
    const relations = models[name]?.relations ?? {};
    for (const fields of objectsOf(data)) {
      for (const [field, target] of Object.entries(relations)) {
        for (const write of objectsOf(fields[field])) addWrite(target, write);
      }
    }
  }

  function addRows(name: string, data: unknown): void {
    for (const row of objectsOf(data)) {
      rows.push({ model: name, data: row });
      addFields(name, row);
    }
  }

  /** The operations on the rows at the other end of a relation. */
  function addWrite(name: string, { create, createMany, connectOrCreate, upsert, update }: Fields): void {
    addRows(name, create);
    for (const { data } of objectsOf(createMany)) addRows(name, data);
    for (const item of objectsOf(connectOrCreate)) addRows(name, item.create);
    for (const item of objectsOf(upsert)) {
      addRows(name, item.create);
      addFields(name, item.update);
    }
    // The other end of a to-one relation may be updated without `data`, which may also be one of its fields.
    for (const item of objectsOf(update)) addFields(name, isWrapped(item) ? item.data : item);
  }

  for (const { data, create, update } of objectsOf(args)) {
    if (operation.startsWith('create')) addRows(model, data);
    else addFields(model, data);
    addRows(model, create);
    addFields(model, update);
  }
  return rows;
}

function isWrapped(item: Fields): boolean {
  return 'data' in item && Object.keys(item).every((key) => key === 'data' || key === 'where');
}

function objectsOf(value: unknown): Fields[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((item): item is Fields => typeof item === 'object' && item !== null);
}

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
function assertModels(models: PrismaModels): void {
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

/** A computed field of Prisma. */
interface FormattedField<Name extends string, Text extends string> {
  readonly needs: Readonly<Record<Name, true>>;
  compute(row: Readonly<Record<Name, bigint>>): Text;
}

/**
 * A computed field for `result` of a Prisma extension: the ID in the field `name` as text.
 *
 * @example result: { order: { id: formattedId('id', orderIds) } }
 */
export function formattedId<Name extends string, Text extends string>(
  name: Name,
  format: IdFormat<Text>,
): FormattedField<Name, Text> {
  return { needs: { [name]: true } as Record<Name, true>, compute: (row) => format.format(row[name]) };
}
