import { constants } from 'node:os';
import { LeafError } from '@leaf-ids/core';
import { visibleLines } from '@leaf-ids/core/internal';
import type { LogConfig } from '../config/leaf-config';
import { LeafLogger, LogOutput } from '../config/logging';
import { withVariables } from '../config/variables';

const TOO_FEW_FILES =
  'The system allows this process too few open files. Raise the limit (ulimit -n, LimitNOFILE= of systemd) to LEAF_MAX_CONNECTIONS, once for each of its ports, and 500 more at least.';
const OUT_OF_FILES: readonly unknown[] = [constants.errno.EMFILE, constants.errno.ENFILE];

/** The error of a failed start with the names of variables; a bug as it was thrown. */
export function startError(error: unknown): unknown {
  if (isOutOfFiles(error)) return new LeafError('LEAF_CONFIG_INVALID', TOO_FEW_FILES, { cause: error });
  if (!(error instanceof LeafError)) return error;
  return new LeafError(error.code, withVariables(error.message), { cause: error });
}

/** The code and the message of a failed start; the stack if it is a bug. */
export function startFault(error: unknown): string {
  const fault = startError(error);
  return fault instanceof LeafError ? `${fault.code}: ${fault.message}` : ((fault as Error).stack ?? String(fault));
}

/** Reports a failed start on standard error: as text, or as one JSON line whose `details` are the lines after the first. */
export function reportStartFault(fault: string, log: LogConfig): void {
  const text = `leaf-server cannot start: ${fault}`;
  const output = new LogOutput(process.stderr);
  if (log.format === 'pretty') {
    output.write(`${visibleLines(text)}\n`);
    return;
  }
  const [message = '', ...lines] = text.split('\n');
  const details = lines.map((line) => line.replace(/^ *(- )?/, ''));
  new LeafLogger(log, undefined, output).fatal({ message, ...(details.length > 0 && { details }) }, 'Server');
}

/** Also if what failed for it took it for something else: a database for a full disk. */
function isOutOfFiles(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { errno } = error as NodeJS.ErrnoException;
  const isCause = OUT_OF_FILES.includes(Math.abs(errno ?? 0)) || /too many open files/i.test(error.message);
  return isCause || isOutOfFiles(error.cause);
}
