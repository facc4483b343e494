import { exec, type ExecException } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { LeafError } from '@leaf-ids/core';
import { messageOf } from '@leaf-ids/core/internal';

/** Returns the password for the next connection; never rejects. */
export type ReadPassword = () => Promise<string>;

/** The source of a password that is not in the URL. */
export interface PasswordSource {
  readonly passwordFile: string | undefined;
  readonly passwordCommand: string | undefined;
}

/** Maximum output of a password command, in bytes. */
const MAX_OUTPUT_BYTES = 65_536;

/**
 * Reads the password from a file or a command for each new connection, because tokens rotate. Connections that open at
 * the same time share one read. If a later read fails, the previous password is used.
 *
 * @param limitMs limit for a command, in milliseconds
 * @returns undefined when the URL has the password
 * @throws LeafError `LEAF_CONFIG_INVALID` when the first read fails
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
      // The file may be in the middle of a replacement, or the service that the command queries may be down.
    }
    reading = undefined;
    return last;
  };
  return () => (reading ??= renew());
}

async function contentOf(file: string): Promise<string> {
  const advice = 'The file must contain only the password and be readable by this user.';
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(`passwordFile of the database URL cannot be read: ${messageOf(error)}. ${advice}`, error);
  }
  return passwordIn(text) ?? refuse(`passwordFile of the database URL ${file} is empty. ${advice}`);
}

/** Errors never include the output of the command: it could contain the password. */
function outputOf(command: string, limitMs: number): Promise<string> {
  const advice = 'The command must print only the password and exit with status 0.';
  return new Promise((resolve, reject) => {
    exec(command, { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout) => {
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
  if (typeof error.code === 'number') return `exited with status ${error.code}`;
  if (typeof error.code === 'string')
    return `printed more than ${MAX_OUTPUT_BYTES} bytes, or cannot be run (${String(error.code)})`;
  return error.killed === true ? `did not exit within ${limitMs} ms` : `was killed by ${error.signal ?? 'a signal'}`;
}

/** Strips the trailing newline. */
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
