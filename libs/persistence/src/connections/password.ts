import { exec, type ExecException } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { LeafError, messageOf } from '@leaf-ids/core';

/** Gives the password of the next connection; never rejects. */
export type ReadPassword = () => Promise<string>;

/** Where a password is that the URL does not have. */
export interface PasswordSource {
  readonly passwordFile: string | undefined;
  readonly passwordCommand: string | undefined;
}

/** A command that writes more than this writes no password, in bytes. */
const LONGEST = 65_536;

/**
 * Reads the password of a file or a command anew for each connection: tokens rotate. Those that connect at the same time
 * share one. The last one that could be read replaces one that cannot: whether it is still valid is for the server to say.
 *
 * @param limitMs how long a command may take, in milliseconds
 * @returns undefined where the URL has the password
 * @throws LeafError `LEAF_CONFIG_INVALID` when it cannot be read to begin with
 */
export async function passwordReader(
  { passwordFile, passwordCommand }: PasswordSource,
  limitMs: number,
): Promise<ReadPassword | undefined> {
  if (passwordCommand !== undefined) return remembering(() => outputOf(passwordCommand, limitMs));
  if (passwordFile !== undefined) return remembering(() => contentOf(passwordFile));
  return undefined;
}

async function remembering(read: () => Promise<string>): Promise<ReadPassword> {
  let last = await read();
  let reading: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    try {
      last = await read();
    } catch {
      // A file may be being replaced, and whatever a command asks may be away.
    }
    reading = undefined;
    return last;
  };
  return () => (reading ??= renew());
}

async function contentOf(file: string): Promise<string> {
  const advice = 'Name a file that this user may read, with the password and nothing else.';
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(`passwordFile of the database URL cannot be read: ${messageOf(error)}. ${advice}`, error);
  }
  return passwordIn(text) ?? refuse(`passwordFile of the database URL ${file} is empty. ${advice}`);
}

/** Nothing that the command writes is part of an error: it could be the password. */
function outputOf(command: string, limitMs: number): Promise<string> {
  const advice = 'It has to print the password, and nothing else, and to end with status 0.';
  return new Promise((resolve, reject) => {
    exec(command, { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: LONGEST }, (error, stdout) => {
      const password = passwordIn(stdout);
      if (error === null && password !== undefined) {
        resolve(password);
        return;
      }
      reject(unusable(`passwordCommand of the database URL ${problemOf(error, limitMs)}. ${advice}`));
    });
  });
}

function problemOf(error: ExecException | null, limitMs: number): string {
  if (error === null) return 'printed nothing';
  if (typeof error.code === 'number') return `ended with status ${error.code}`;
  if (typeof error.code === 'string')
    return `printed more than ${LONGEST} bytes, or cannot be run (${String(error.code)})`;
  return error.killed === true ? `did not end within ${limitMs} ms` : `was ended by ${error.signal ?? 'a signal'}`;
}

/** Without the end of the line. */
function passwordIn(text: string): string | undefined {
  const password = text.replace(/\r?\n$/, '');
  return password === '' ? undefined : password;
}

function unusable(problem: string, cause?: unknown): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `The ${problem}`, { cause });
}

function refuse(problem: string): never {
  throw unusable(problem);
}
