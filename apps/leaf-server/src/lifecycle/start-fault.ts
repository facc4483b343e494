import { LeafError } from '@leaf-ids/core';
import type { LogConfig } from '../config/leaf-config';
import { LeafLogger } from '../config/logging';
import { LogOutput } from '../config/log-output';
import { visibleLines } from '../config/log-text';
import { withVariables } from '../config/option-variables';

/** The code and the message of a failed start; the stack if it is a bug. */
export function startFault(error: unknown): string {
  return error instanceof LeafError
    ? `${error.code}: ${withVariables(error.message)}`
    : ((error as Error).stack ?? String(error));
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
