import { join } from 'node:path';
import { formatInstance, type Instance, LeafError } from '@leaf-ids/core';
import { type FileRecord, messageOf, WorkerFile, writeDurably } from '@leaf-ids/core/internal';
import { type ExclusiveLock, lockDirectory } from './exclusive-lock';
import { formatProperties, parseProperties } from './properties';
import { readTextFile } from './read-text';

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
