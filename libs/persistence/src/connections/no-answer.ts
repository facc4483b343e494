import { codeOf, LeafError } from '@leaf-ids/core';
import type { SessionDialect } from './session-dialect';

/** A statement was sent, or a connection asked for, and nothing came back in time. */
export class NoAnswer extends Error {
  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms; a statement that was sent counts as carried out`);
  }
}

/** Whether an error leaves it open what state the connection is in, or that it leads to the wrong server. */
export function isOfConnection(error: unknown, { faultOf, ofStatement }: SessionDialect): boolean {
  if (error instanceof LeafError) return false;
  const code = codeOf(error);
  return faultOf(error)?.connection ?? (code === undefined || !ofStatement.test(code));
}
