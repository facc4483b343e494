import { readFileSync } from 'node:fs';
import { LeafError, messageOf } from '@leaf/core';

/**
 * The password in a file, read anew at each call: tokens rotate. Drivers ask for it where they cannot wait, and where an
 * error could end the process; so the last one that could be read stands in for one that cannot. Whether it is still
 * valid is for the server to say.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID` when the file cannot be read to begin with, or holds no password
 */
export function passwordReader(file: string): () => string {
  let last = readPassword(file);
  return () => {
    try {
      last = readPassword(file);
    } catch {
      // It may be being replaced.
    }
    return last;
  };
}

/** Without the end of the line. */
function readPassword(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unusable(`cannot be read: ${messageOf(error)}`, error);
  }
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw unusable(`${file} is empty`);
  return password;
}

function unusable(problem: string, cause?: unknown): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `The passwordFile of the database URL ${problem}. Name a file that this user may read, with the password and nothing else.`,
    { cause },
  );
}
