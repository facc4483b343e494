import type { ValueTransformer } from 'typeorm';
import { LeafError } from '@leaf-ids/core';
import type { KeyType } from './generated-key';

const CONVERT: Readonly<Record<KeyType, (value: string | number | bigint) => string | bigint>> = {
  string: String,
  bigint: BigInt,
};

/** Between a bigint column, as drivers write and read it, and a property. */
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
 * For columns that hold an ID, as foreign keys: `@Column({ type: 'bigint', transformer: idTransformer('bigint') })`.
 * An ID that the driver has rounded is refused on its way in.
 */
export function idTransformer(type: KeyType): IdTransformer {
  return new IdTransformer(type);
}

function rounded(value: number): LeafError {
  return new LeafError(
    'LEAF_ID_INVALID',
    `The database driver has read an ID as the number ${value}, which is rounded: numbers are exact to 2^53 only. Let it read bigint columns exactly: on SQLite prepareDatabase: (database) => database.defaultSafeIntegers(true).`,
  );
}
