import { readFile } from 'node:fs/promises';
import { LeafError } from '@leaf-ids/core';
import { codeOf, messageOf } from '@leaf-ids/core/internal';

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
