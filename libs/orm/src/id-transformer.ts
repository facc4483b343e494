import type { ValueTransformer } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import type { KeyType } from './generated-key';

const CONVERT: Readonly<Record<KeyType, (value: string | number | bigint) => string | bigint>> = {
  string: String,
  bigint: BigInt,
};

/** Converts between a bigint column and a property. */
export class IdTransformer implements ValueTransformer {
  constructor(private readonly type: KeyType) {}

  to(value: unknown): unknown {
    return typeof value === 'bigint' ? String(value) : value;
  }

  /** @throws LeafError `LEAF_ID_INVALID` for an ID that the driver has rounded */
  from(value: unknown): unknown {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) throw rounded(value);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return value;
    return CONVERT[this.type](value);
  }
}

/**
 * A transformer for columns with an ID, such as foreign keys. Reading throws when the driver has rounded the ID.
 *
 * @example @Column({ type: 'bigint', transformer: idTransformer('bigint') }) orderId!: bigint;
 */
export function idTransformer(type: KeyType): IdTransformer {
  return new IdTransformer(type);
}

function rounded(value: number): LeafError {
  return new LeafError(
    'LEAF_ID_INVALID',
    `The database driver returned an ID as the number ${value}, which is rounded: numbers are exact only to 2^53. Configure the driver to read bigint columns exactly; for SQLite, set prepareDatabase: (database) => database.defaultSafeIntegers(true).`,
  );
}
