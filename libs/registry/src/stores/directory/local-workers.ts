import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Clock, isLeafError } from '@leaf-ids/core';
import { lockDirectory } from '../../file/exclusive-lock';
import { readRecord, workerIdOf } from './worker-record-file';

/** Another process that checks the lock holds it for a moment: attempts, and milliseconds between two of them. */
const LOCK_ATTEMPTS = 20;
/** Pause between two attempts to lock a file, in milliseconds. */
const LOCK_PAUSE_MS = 10;

/**
 * Describes, for an error message, a server with the registry `local` whose data directory is that of this SQLite file:
 * one whose reserved time has not passed, or that is running. Undefined if there is none.
 *
 * @param all whether to look also for a running server whose reserved time has passed: it was suspended
 */
export async function localWorkerBeside(file: string, clock: Clock, all: boolean): Promise<string | undefined> {
  const data = dirname(file);
  for (const name of await directoriesIn(data)) {
    for (const worker of await directoriesIn(join(data, name))) {
      const workerId = workerIdOf(worker);
      if (workerId === undefined) continue;
      const directory = join(data, name, worker);
      const ceiling = await ceilingOf(directory, workerId);
      const use = useUntil(ceiling, clock.now()) ?? (all && ceiling !== undefined && (await useOf(directory, clock)));
      if (use) return `worker ${workerId} of the registry local, ${use}: ${directory}`;
    }
  }
  return undefined;
}

/** @returns infinity for a record that cannot be read; undefined if there is none */
async function ceilingOf(directory: string, workerId: number): Promise<number | undefined> {
  try {
    return (await readRecord(join(directory, 'workerID.json'), workerId))?.record.ceiling;
  } catch (error) {
    if (isLeafError(error, 'LEAF_WORKER_FILE_INVALID')) return Infinity;
    throw error;
  }
}

function useUntil(ceiling: number | undefined, now: number): string | undefined {
  if (ceiling === undefined || ceiling < now) return undefined;
  return ceiling === Infinity ? 'whose record cannot be read' : `reserved until ${new Date(ceiling).toISOString()}`;
}

async function useOf(directory: string, clock: Clock): Promise<string | undefined> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    if (attempt > 0) await clock.sleep(LOCK_PAUSE_MS);
    const lock = await lockDirectory(directory, 'the registry local');
    lock?.release();
    if (lock !== undefined) return undefined;
  }
  return 'held by a running server';
}

/** Entries of a directory; none if it belongs to another user, such as `lost+found`, or was removed meanwhile. */
async function directoriesIn(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (['EACCES', 'EPERM', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
