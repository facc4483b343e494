import { LeafError } from '@leaf-ids/core';

/** What is said of a start that failed, once. */
export function startFault(error: unknown): string {
  return error instanceof LeafError ? `${error.code}: ${error.message}` : ((error as Error).stack ?? String(error));
}

export function sayStartFault(fault: string): void {
  process.stderr.write(`leaf-server cannot start: ${fault}\n`);
}
