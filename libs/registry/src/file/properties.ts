import type { FileRecord } from '@leaf-ids/core/internal';

/** The keys of the Java service, which come first. */
const JAVA = ['workerID', 'maxTimestamp'] as const;
const TEXTS = ['registry', 'instance', 'registryId', 'layout', 'leaseId', 'attempt'] as const;
const NUMBERS = ['generation', 'write', 'attempted'] as const;
/** Optional: earlier versions did not write them. */
const OPTIONAL = ['origin', 'began'] as const;
/** The last line, which shows that the file is complete. */
const STATE = /\nstate=(held|released|lost)\n$/;
/** The last line of version 1, which wrote the Java keys, `registry`, `instance`, `recordedTimestamp` and `version`. */
const RELEASED = /\nreleased=(true|false)\n$/;

/** Writes an undefined `attempt` as an empty value. */
export function formatProperties(record: FileRecord): string {
  const { workerId, ceiling, attempt = '', state } = record;
  const values = { ...record, workerID: workerId, maxTimestamp: ceiling, attempt };
  const known = OPTIONAL.filter((key) => record[key] !== undefined);
  const lines = [...JAVA, ...TEXTS, ...NUMBERS, ...known].map((key) => `${key}=${values[key]}\n`);
  return `${lines.join('')}state=${state}\n`;
}

/** @returns the record, or a description of the fault if the text is not a complete file */
export function parseProperties(text: string): FileRecord | string {
  const [state, released] = [STATE.exec(text)?.[1], RELEASED.exec(text)?.[1]];
  if (state === undefined && released === undefined) return text === '' ? 'it is empty' : 'its last line is incomplete';
  const lines = new Map(text.split('\n').map((line) => splitAt(line, line.indexOf('='))));
  const keys: readonly string[] = [
    ...JAVA,
    'registry',
    'instance',
    ...(state === undefined ? [] : [...TEXTS, ...NUMBERS]),
  ];
  const missing = keys.find((key) => !lines.has(key));
  if (missing !== undefined) return `the line ${missing}= is missing`;
  const value = (key: string): string => lines.get(key) ?? '';
  const number = (key: string): number => Number(lines.get(key) ?? 0);
  const wrong = [...JAVA, ...NUMBERS, 'began'].find(
    (key) => !/^\d+$/.test(lines.get(key) ?? '0') || !Number.isSafeInteger(number(key)),
  );
  if (wrong !== undefined) return `${wrong} is not a whole number`;
  return {
    ...{ instance: value('instance'), registry: value('registry'), registryId: value('registryId') },
    ...{ generation: number('generation'), origin: lines.get('origin'), layout: value('layout') },
    began: lines.has('began') ? number('began') : undefined,
    ...{ workerId: number('workerID'), ceiling: number('maxTimestamp') },
    ...{ leaseId: value('leaseId'), write: number('write'), attempted: number('attempted') },
    attempt: value('attempt') || undefined,
    state: state === 'lost' ? 'lost' : state === 'released' || released === 'true' ? 'released' : 'held',
  };
}

function splitAt(line: string, index: number): [string, string] {
  return [line.slice(0, index), line.slice(index + 1)];
}
