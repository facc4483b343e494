import { type IdService, LeafError } from '@leaf-ids/core';
import { assignIds } from '../assign-ids';
import { type NewRow, newRows } from './new-rows';
import { assertModels, type PrismaModels } from './prisma-models';

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
