import { LeafError } from '@leaf-ids/core';

/** A database setting that can cause duplicate IDs. */
export interface Weakness {
  /** The name of the setting; `accept` refers to it. */
  readonly setting: string;
  readonly value: string;
  /** The effect on IDs, and the remedy. */
  readonly consequence: string;
}

/** @throws LeafError `LEAF_DATABASE_UNUSABLE` for a weakness that is not accepted */
export function assertDurable(description: string, weaknesses: readonly Weakness[], accepted: readonly string[]): void {
  const refused = weaknesses.filter(({ setting }) => !accepted.includes(setting));
  if (refused.length === 0) return;
  const text = refused.map(({ setting, value, consequence }) => `${setting} is ${value}: ${consequence}`).join(' ');
  const names = refused.map(({ setting }) => setting).join(', ');
  throw new LeafError(
    'LEAF_DATABASE_UNUSABLE',
    `${description} can lose committed data. ${text} To start anyway, accept the risk: add ${names} to the option accept.`,
  );
}
