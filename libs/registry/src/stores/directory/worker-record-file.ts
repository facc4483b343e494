import { LeafError, type StoredWorker, type WorkerRecord } from '@leaf-ids/core';
import { codeOf, isCount, isTime, messageOf, parseObject, writeDurably } from '@leaf-ids/core/internal';
import { readTextFile } from '../../file/properties-worker-file';

/** The worker ID of a directory with this name, `worker-<n>`; undefined for any other name. */
export function workerIdOf(name: string): number | undefined {
  const digits = /^worker-(\d{1,9})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * The content of `workerID.json`: the four keys of the Java service's local mode, then our own, ending with the process
 * ID.
 */
export function formatRecord(workId: number, { instance, ceiling, leaseId, write, free }: WorkerRecord): string {
  const { ip, port } = instance;
  const record = { ip, port: String(port), workId, timestamp: ceiling, leaseId, write, free, pid: process.pid };
  return `${JSON.stringify(record)}\n`;
}

/**
 * @returns the record, or undefined if the file does not exist
 * @throws LeafError `LEAF_WORKER_FILE_INVALID` if the file is not a complete record of this worker
 */
export async function readRecord(path: string, workerId: number): Promise<StoredWorker | undefined> {
  const version = await readText(path);
  if (version === undefined) return undefined;
  const { ip, port, workId, timestamp, leaseId, write = 0, free } = parseObject(version);
  if (version === '') throw invalid(path, 'it is empty');
  if (workId !== workerId) throw invalid(path, `it is not the record of worker ${workerId}`);
  if (!isTime(timestamp)) throw invalid(path, 'its timestamp is not a time in Unix milliseconds');
  if (!isCount(write)) throw invalid(path, 'its number of writes is not a whole number');
  const record = {
    instance: { ip: String(ip), port: Number(port) },
    leaseId: typeof leaseId === 'string' ? leaseId : undefined,
    ...{ write, ceiling: timestamp, free: free === true },
  };
  return { workerId, record, version };
}

/**
 * @returns undefined if the file does not exist
 * @throws LeafError `LEAF_WORKER_FILE_INVALID`, or as {@link readTextFile}
 */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readTextFile(path);
  } catch (error) {
    // A file is in the place of the directory. Locking it fails with a clearer error.
    if (codeOf(error) === 'ENOTDIR') return undefined;
    if (error instanceof LeafError) throw error;
    throw invalid(path, messageOf(error), error);
  }
}

/** @throws LeafError see {@link notWritten} */
export async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeDurably(path, text);
  } catch (error) {
    throw notWritten(path, error);
  }
}

/**
 * `LEAF_DATA_DIR_UNUSABLE` for a read-only file system and a file in place of a directory, `LEAF_REGISTRY_UNREACHABLE` for faults that may be transient.
 */
export function notWritten(path: string, cause: unknown): LeafError {
  if (codeOf(cause) === 'EROFS') {
    return new LeafError(
      'LEAF_DATA_DIR_UNUSABLE',
      `The worker file ${path} is on a read-only file system. Mount it writable, or use another data directory.`,
      { cause },
    );
  }
  if (codeOf(cause) === 'ENOTDIR') {
    return new LeafError(
      'LEAF_DATA_DIR_UNUSABLE',
      `${path} is not a directory: ${messageOf(cause)}. Move the file away, or use another data directory.`,
      { cause },
    );
  }
  return new LeafError(
    'LEAF_REGISTRY_UNREACHABLE',
    `Cannot write the worker file ${path}: ${messageOf(cause)}. Free space on the disk, or make the directory writable; this server retries automatically.`,
    { cause, retryAfterMs: 1000 },
  );
}

export function invalid(path: string, problem: string, cause?: unknown): LeafError {
  return new LeafError(
    'LEAF_WORKER_FILE_INVALID',
    `The worker file ${path} is invalid: ${problem}. Leaf has not changed it. Restore it from a backup; or check that the clock of this host is correct, and delete the file.`,
    { cause },
  );
}
