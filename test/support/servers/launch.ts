import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { SERVER_FILE } from '../build';

export interface Launch {
  /** The program and its arguments; the built server when left out. */
  readonly command?: readonly string[];
  /** A directory of no importance when left out: the server must run from anywhere. */
  readonly cwd?: string;
  /** Everything that it gets to see beside the path of executables. */
  readonly env: NodeJS.ProcessEnv;
  /** Takes all that it writes, at its end; pipes do when left out. */
  readonly logFile?: string;
  /** Pipes for its input and output; only its errors go to the log file. */
  readonly piped?: boolean;
  /** Runs as this user. */
  readonly userId?: number | undefined;
}

/** Starts a server, or the program that becomes one, as a process of its own. Does not wait until it listens. */
export function launch(how: Launch): ChildProcess {
  const { command = [process.execPath, SERVER_FILE], cwd = tmpdir(), env, logFile, piped = false, userId } = how;
  const [program = '', ...words] = command;
  const log = logFile === undefined ? 'pipe' : openSync(logFile, 'a');
  const child = spawn(program, words, {
    cwd,
    stdio: piped ? ['pipe', 'pipe', log] : ['ignore', log, log],
    env: { PATH: process.env.PATH, ...env },
    ...(userId === undefined ? {} : { uid: userId, gid: userId }),
  });
  if (log !== 'pipe') closeSync(log);
  return child;
}

/** The settings of a server for tests: a free port, and no limit that a machine which stands still would exceed. */
export function serverEnv(directory: string): NodeJS.ProcessEnv {
  return {
    LEAF_PORT: '0',
    LEAF_HOST: '127.0.0.1',
    LEAF_ADVERTISE_HOST: '127.0.0.1',
    LEAF_DATA_DIR: directory,
    LEAF_SHUTDOWN_DRAIN_MS: '0',
    // A short pause of the machine must not count as an overload.
    LEAF_MAX_LAG_MS: '60000',
  };
}
