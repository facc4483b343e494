import { LeafError } from '@leaf/core';
import type { KeyType } from './generated-key';

/** Between a bigint column, as drivers write and read it, and a property. */
export interface IdTransformer {
  to(value: unknown): unknown;
  from(value: unknown): unknown;
}

const CONVERT: Readonly<Record<KeyType, (value: string | number | bigint) => string | bigint>> = {
  string: String,
  bigint: BigInt,
};

/**
 * For columns that hold an ID, as foreign keys: `@Column({ type: 'bigint', transformer: idTransformer('bigint') })`.
 * An ID that the driver has rounded is refused on its way in.
 */
export function idTransformer(type: KeyType): IdTransformer {
  return {
    to: (value) => (typeof value === 'bigint' ? String(value) : value),
    from: (value) => {
      if (typeof value === 'number' && !Number.isSafeInteger(value)) throw rounded(value);
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return value;
      return CONVERT[type](value);
    },
  };
}

function rounded(value: number): LeafError {
  return new LeafError(
    'LEAF_ID_INVALID',
    `The database driver has read an ID as the number ${value}, which is rounded: numbers are exact to 2^53 only. Let it read bigint columns exactly: on SQLite prepareDatabase: (database) => database.defaultSafeIntegers(true).`,
  );
}
