import type { ValueTransformer } from 'typeorm';
import { type IdFormat, LeafError } from '@leaf-ids/core';

/** The type of a key property; `number` is excluded because it is exact only to 2^53. */
export type KeyType = 'string' | 'bigint';
/** How a property represents an ID: as a decimal string, as a bigint, or as the text of a format. */
export type KeyForm = KeyType | IdFormat;

/** Converts between a bigint column and a property. */
export class IdTransformer implements ValueTransformer {
  constructor(readonly form: KeyForm) {}

  /** @throws LeafError `LEAF_ID_INVALID` for a text that does not have the format */
  to(value: unknown): unknown {
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'string' && typeof this.form === 'object' ? String(this.form.parse(value)) : value;
  }

  /** @throws LeafError `LEAF_ID_INVALID` for an ID that the driver has rounded */
  from(value: unknown): unknown {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) throw rounded(value);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return value;
    return this.ofId(BigInt(value));
  }

  ofId(id: bigint): string | bigint {
    if (this.form === 'bigint') return id;
    return this.form === 'string' ? String(id) : this.form.format(id);
  }
}

/**
 * A transformer for columns with an ID, such as foreign keys. Reading throws when the driver has rounded the ID.
 *
 * @example @Column({ type: 'bigint', transformer: idTransformer('bigint') }) orderId!: bigint;
 */
export function idTransformer(form: KeyForm): IdTransformer {
  return new IdTransformer(form);
}

function rounded(value: number): LeafError {
  return new LeafError(
    'LEAF_ID_INVALID',
    `The database driver returned an ID as the number ${value}, which is rounded: numbers are exact only to 2^53. Configure the driver to read bigint columns exactly; for SQLite, set prepareDatabase: (database) => database.defaultSafeIntegers(true).`,
  );
}
