import { LeafError } from '@leaf-ids/core';
import { messageOf } from '@leaf-ids/core/internal';

/** The error for a driver that is not installed, or does not load. */
export function missingDriver(name: string, needed: string, cause: unknown): LeafError {
  const [reason] = messageOf(cause).split('\n');
  const message = `${needed} the package ${name}, which cannot be loaded: ${reason}. Run npm install ${name}.`;
  return new LeafError('LEAF_CONFIG_INVALID', message, { cause });
}
