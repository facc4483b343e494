import type { IdFormat } from '@leaf-ids/core';

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
