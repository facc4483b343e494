import { readFile } from 'node:fs/promises';
import { codeOf, LeafError, messageOf, writeDurably } from '@leaf/core';

/** What a server knows of its worker without the registry. Times are Unix milliseconds. */
export interface StandIn {
  /** Of which registry the worker ID is: in another one it is somebody else's. */
  readonly registry: string;
  /** `ip:port`. */
  readonly instance: string;
  readonly workerId: number;
  /** No ID of this worker from this server carries a timestamp above it. */
  readonly ceiling: number;
  /** The ceiling that the registry is known to hold. */
  readonly recorded: number;
  /** What the registry compares at the next write. */
  readonly version: string;
  /** The worker was given back: nobody holds it. */
  readonly released: boolean;
}

/** The keys of the Java service's file first, those that it does not know after them. */
const KEYS = ['workerID', 'maxTimestamp', 'registry', 'instance', 'recordedTimestamp', 'version', 'released'] as const;

/**
 * @returns undefined when there is no file
 * @throws LeafError `LEAF_WORKER_FILE_INVALID` for anything that is not a whole file of this instance
 */
export async function readStandIn(path: string, instance: string): Promise<StandIn | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw invalid(path, messageOf(error), error);
  }
  const values = new Map(text.split('\n').map((line) => splitAt(line, line.indexOf('='))));
  const missing = KEYS.find((key) => !values.has(key));
  if (missing !== undefined) throw invalid(path, text === '' ? 'it is empty' : `it has no whole line ${missing}=`);
  const number = (key: (typeof KEYS)[number]): number => {
    const value = values.get(key) ?? '';
    if (/^\d{1,16}$/.test(value) && Number.isSafeInteger(Number(value))) return Number(value);
    throw invalid(path, `${key} is no whole number`);
  };
  const standIn = {
    registry: values.get('registry') ?? '',
    instance: values.get('instance') ?? '',
    workerId: number('workerID'),
    ceiling: number('maxTimestamp'),
    recorded: number('recordedTimestamp'),
    version: values.get('version') ?? '',
    released: values.get('released') === 'true',
  };
  if (!/\nreleased=(true|false)\n$/.test(text)) throw invalid(path, 'its last line is not whole');
  if (standIn.instance !== instance) throw invalid(path, `it is of ${standIn.instance}, and this is ${instance}`);
  return standIn;
}

export async function writeStandIn(path: string, standIn: StandIn): Promise<void> {
  const { workerId, ceiling, registry, instance, recorded, version, released } = standIn;
  const values = [workerId, ceiling, registry, instance, recorded, version, released];
  const lines = KEYS.map((key, index) => `${key}=${String(values[index])}\n`);
  await writeDurably(path, lines.join(''));
}

function splitAt(line: string, index: number): [string, string] {
  return [line.slice(0, index), line.slice(index + 1)];
}

function invalid(path: string, problem: string, cause?: unknown): LeafError {
  return new LeafError(
    'LEAF_WORKER_FILE_INVALID',
    `The worker file ${path} cannot be trusted: ${problem}. It was left as it is. Restore it, or, once the registry is reachable and the clock of this host is known to be right, remove it.`,
    { cause },
  );
}
