import { join } from 'node:path';
import { formatInstance, type Instance, LeafError } from '@leaf-ids/core';
import { type FileRecord, messageOf, WorkerFile, writeDurably, codeOf } from '@leaf-ids/core/internal';
import { type ExclusiveLock, lockDirectory } from './exclusive-lock';
import { readFile } from 'node:fs/promises';

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
function formatProperties(record: FileRecord): string {
  const { workerId, ceiling, attempt = '', state } = record;
  const values = { ...record, workerID: workerId, maxTimestamp: ceiling, attempt };
  const known = OPTIONAL.filter((key) => record[key] !== undefined);
  const lines = [...JAVA, ...TEXTS, ...NUMBERS, ...known].map((key) => `${key}=${values[key]}\n`);
  return `${lines.join('')}state=${state}\n`;
}

/** @returns the record, or a description of the fault if the text is not a complete file */
function parseProperties(text: string): FileRecord | string {
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

const NAME = 'workerID.properties';

interface Opened {
  readonly lock: ExclusiveLock;
  record: FileRecord | undefined;
}

/**
 * `<directory>/<port>/workerID.properties`. A lock file in the same directory is locked for the lifetime of the
 * process.
 */
export class PropertiesWorkerFile extends WorkerFile {
  private place: string;
  private opened: Opened | undefined;

  /** @param directory created if it does not exist */
  constructor(private readonly directory: string) {
    super();
    this.place = join(directory, NAME);
  }

  get path(): string {
    return this.place;
  }

  async open(instance: Instance): Promise<FileRecord | undefined> {
    this.opened ??= await this.lockAndRead(instance);
    return this.opened.record;
  }

  async write(record: FileRecord): Promise<void> {
    const { opened, path } = this;
    if (opened === undefined) throw new Error(`${path} must be opened before it is written.`);
    await this.assertInPlace(opened.lock);
    try {
      await writeDurably(path, formatProperties(record));
    } catch (cause) {
      throw this.notWritten(
        messageOf(cause),
        'Free space on the disk, or make the directory writable; this server retries automatically.',
        cause,
      );
    }
    // If the directory was replaced during the write, the file may be in the new directory.
    await this.assertInPlace(opened.lock);
    opened.record = record;
  }

  close(): void {
    this.opened?.lock.release();
    this.opened = undefined;
  }

  private async lockAndRead(instance: Instance): Promise<Opened> {
    const directory = join(this.directory, String(instance.port));
    this.place = join(directory, NAME);
    const lock = await lockDirectory(directory, formatInstance(instance));
    if (lock === undefined) {
      throw new LeafError(
        'LEAF_WORKER_HELD',
        `Another process on this host runs as ${formatInstance(instance)} and has locked ${directory}. Stop that process, or give this server a different port (the option snowflake.instance.port).`,
      );
    }
    try {
      return { lock, record: await this.read(formatInstance(instance)) };
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private async read(instance: string): Promise<FileRecord | undefined> {
    const text = await readTextFile(this.path).catch((error: unknown) => {
      throw error instanceof LeafError ? error : this.invalid(messageOf(error), error);
    });
    if (text === undefined) return undefined;
    const found = parseProperties(text);
    if (typeof found === 'string') throw this.invalid(found);
    if (found.instance !== instance)
      throw this.invalid(`it belongs to ${found.instance}, and this server is ${instance}`);
    return found;
  }

  /** Throws if the directory was replaced, because another process may have locked the new one. */
  private async assertInPlace(lock: ExclusiveLock): Promise<void> {
    if (await lock.isInPlace()) return;
    throw this.notWritten(
      'its directory was removed or replaced while this server ran',
      'Keep the data directory in place, and restart this server.',
    );
  }

  private notWritten(problem: string, remedy: string, cause?: unknown): LeafError {
    return new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `Cannot write the worker file ${this.path}: ${problem}. ${remedy}`,
      {
        cause,
        retryAfterMs: 1000,
      },
    );
  }

  private invalid(problem: string, cause?: unknown): LeafError {
    return new LeafError(
      'LEAF_WORKER_FILE_INVALID',
      `The worker file ${this.path} is invalid: ${problem}. Leaf has not changed it. Restore it from a backup; or check that the registry is reachable and the clock of this host is correct, and delete the file.`,
      { cause },
    );
  }
}

/** Faults of the system, which say nothing about the content of the file. */
const TRANSIENT = ['EMFILE', 'ENFILE', 'EIO', 'EAGAIN', 'EBUSY', 'EINTR', 'ENOMEM', 'ESTALE', 'ETIMEDOUT'];
const DENIED = ['EACCES', 'EPERM'];

/**
 * Reads a worker file.
 *
 * @returns undefined if the file does not exist
 * @throws LeafError `LEAF_REGISTRY_UNREACHABLE` for faults that may be transient, `LEAF_DATA_DIR_UNUSABLE` for missing
 *   permissions; any other error as it is
 */
export async function readTextFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'ENOENT') return undefined;
    if (TRANSIENT.includes(code)) {
      throw new LeafError(
        'LEAF_REGISTRY_UNREACHABLE',
        `Cannot read the worker file ${path}: ${messageOf(error)}. This server retries automatically. Do not delete the file: it records which IDs may exist.`,
        { cause: error, retryAfterMs: 1000 },
      );
    }
    if (DENIED.includes(code)) {
      throw new LeafError(
        'LEAF_DATA_DIR_UNUSABLE',
        `Cannot read the worker file ${path}: ${messageOf(error)}. Make it readable for this user. Do not delete it: it records which IDs may exist.`,
        { cause: error },
      );
    }
    throw error;
  }
}
