import { LeafError } from '@leaf-ids/core';

/** A setting of the database under which IDs can come twice. */
export interface Weakness {
  /** The name of the setting, by which it can be accepted. */
  readonly setting: string;
  readonly value: string;
  /** What may come twice, and the cure. */
  readonly consequence: string;
}

/** @throws LeafError `LEAF_DATABASE_UNUSABLE` for a weakness that is not accepted */
export function assertDurable(description: string, weaknesses: readonly Weakness[], accepted: readonly string[]): void {
  const refused = weaknesses.filter(({ setting }) => !accepted.includes(setting));
  if (refused.length === 0) return;
  const text = refused.map(({ setting, value, consequence }) => `${setting} is ${value}: ${consequence}`).join(' ');
  const names = refused.map(({ setting }) => setting).join(',');
  throw new LeafError(
    'LEAF_DATABASE_UNUSABLE',
    `${description} can lose what it has confirmed. ${text} To run all the same, accept it by name: LEAF_DATABASE_ACCEPT=${names} (embedded: accept).`,
  );
}
