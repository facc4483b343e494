import { codeOf, LeafError } from '@leaf/core';
import { databaseFault } from './database-faults';

/** A statement was sent, or a connection asked for, and nothing came back in time. */
export class NoAnswer extends Error {
  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms; a statement that was sent counts as carried out`);
  }
}

/** SQLSTATE or mysql2's name of what a server has said about one statement: the connection is as good as before. */
const OF_STATEMENT = /^(?!08|25|57P|58|XX)[0-9A-Z]{5}$|^ER_|^SQLITE_/;

/** Whether an error leaves it open what state the connection is in, or that it leads to the wrong server. */
export function isOfConnection(error: unknown): boolean {
  if (error instanceof LeafError) return false;
  const code = codeOf(error);
  return databaseFault(error)?.connection ?? (code === undefined || !OF_STATEMENT.test(code));
}
