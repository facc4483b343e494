import { LeafError } from '@leaf-ids/core';
import { codeOf } from '@leaf-ids/core/internal';
import type { SessionDialect } from './session-dialect';

/** A statement or the attempt to connect timed out. */
export class NoAnswer extends Error {
  constructor(limitMs: number) {
    super(`no response within ${limitMs} ms; a statement that was already sent counts as executed`);
  }
}

/** Whether the connection is in an unknown state after the error, or leads to the wrong server. */
export function isOfConnection(error: unknown, { faultOf, ofStatement }: SessionDialect): boolean {
  if (error instanceof LeafError) return false;
  const code = codeOf(error);
  return faultOf(error)?.connection ?? (code === undefined || !ofStatement.test(code));
}
