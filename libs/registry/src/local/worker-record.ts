import { readFile } from 'node:fs/promises';
import { codeOf, LeafError, messageOf, writeDurably } from '@leaf/core';

/** `workerID.json`: the four keys of the Java service's local mode, and who wrote it. */
export interface WorkerRecord {
  readonly ip: string;
  readonly port: string;
  readonly workId: number;
  /** The ceiling, Unix milliseconds. */
  readonly timestamp: number;
  readonly leaseId: string;
  readonly pid: number;
}

/**
 * @returns the record, or undefined when there is no file
 * @throws LeafError `LEAF_WORKER_FILE_INVALID` for anything that is not a whole record of this worker
 */
export async function readWorkerRecord(path: string, workerId: number): Promise<WorkerRecord | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw invalid(path, messageOf(error), error);
  }
  let record: Partial<WorkerRecord>;
  try {
    record = (JSON.parse(text) ?? {}) as Partial<WorkerRecord>;
  } catch (error) {
    throw invalid(path, text === '' ? 'it is empty' : 'it is not JSON', error);
  }
  if (record.workId !== workerId) throw invalid(path, `it is not the record of worker ${workerId}`);
  if (!Number.isSafeInteger(record.timestamp) || (record.timestamp ?? -1) < 0) {
    throw invalid(path, 'its timestamp is no time in Unix milliseconds');
  }
  return record as WorkerRecord;
}

/** @throws LeafError as {@link notWritten} makes it */
export async function writeWorkerRecord(path: string, record: WorkerRecord): Promise<void> {
  try {
    await writeDurably(path, `${JSON.stringify(record)}\n`);
  } catch (error) {
    throw notWritten(path, error);
  }
}

/** `LEAF_DATA_DIR_UNUSABLE` for a file system that is read-only, `LEAF_REGISTRY_UNREACHABLE` for what may pass. */
export function notWritten(path: string, cause: unknown): LeafError {
  if (codeOf(cause) === 'EROFS') {
    return new LeafError(
      'LEAF_DATA_DIR_UNUSABLE',
      `The worker file ${path} is on a file system that is read-only. Mount it to be written, or name another directory in LEAF_DATA_DIR.`,
      { cause },
    );
  }
  return new LeafError(
    'LEAF_REGISTRY_UNREACHABLE',
    `The worker file ${path} cannot be written: ${messageOf(cause)}. Make room on the disk, or the directory writable; it goes on by itself.`,
    { cause, retryAfterMs: 1000 },
  );
}

function invalid(path: string, problem: string, cause?: unknown): LeafError {
  return new LeafError(
    'LEAF_WORKER_FILE_INVALID',
    `The worker file ${path} cannot be trusted: ${problem}. It was left as it is. Restore it, or, once the clock of this host is known to be right, remove it.`,
    { cause },
  );
}
