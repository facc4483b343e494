// Reads step logs, one JSON line a step (libs/core/src/steps), and puts the lines of all processes in order.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A log that no process can have written. */
export class InvalidLog extends Error {}

/** @returns the lines of all logs below a directory, with `process`, the name of their file */
export function readLogs(directory) {
  const names = readdirSync(directory, { recursive: true }).filter((name) => name.endsWith('.jsonl'));
  return inOrder(names.sort().map((name) => linesOf(name, readFileSync(join(directory, name), 'utf8'))));
}

/** @param logs the lines of each process @returns all lines, in the order of the clock that the processes share */
export function inOrder(logs) {
  return logs.flat().sort((a, b) => a.order - b.order || a.process.localeCompare(b.process) || a.n - b.n);
}

/** @throws InvalidLog */
export function linesOf(process, text) {
  const lines = text.split('\n').filter((line) => line !== '');
  return checked(
    process,
    lines.flatMap((line, index) => {
      try {
        return { ...JSON.parse(line), process };
      } catch {
        // A process that was killed may leave half of its last line.
        if (index === lines.length - 1) return [];
        throw new InvalidLog(`${process} line ${index + 1} is not JSON`);
      }
    }),
  );
}

function checked(process, lines) {
  lines.forEach(({ n, order }, index) => {
    if (n !== index + 1) throw new InvalidLog(`${process} line ${index + 1} has the number ${n}`);
    if (index > 0 && order < lines[index - 1].order) throw new InvalidLog(`${process} line ${n} is out of order`);
  });
  return lines;
}
