import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '@leaf-ids/core/internal';
import { lockDirectory } from '../../file/exclusive-lock';
import { readRecord } from './worker-record-file';

/**
 * Describes, for an error message, a server with the registry `local` whose data directory is that of this SQLite file:
 * one that is running, or whose reserved time has not passed. Undefined if there is none.
 *
 * @param now Unix milliseconds
 */
export async function localWorkerBeside(file: string, now: number): Promise<string | undefined> {
  const data = dirname(file);
  for (const name of await directoriesIn(data)) {
    for (const worker of await directoriesIn(join(data, name))) {
      const [, workerId] = /^worker-(\d{1,9})$/.exec(worker) ?? [];
      if (workerId === undefined) continue;
      const directory = join(data, name, worker);
      const use = await useOf(directory, Number(workerId), now);
      if (use !== undefined) return `worker ${workerId} of the registry local, ${use}: ${directory}`;
    }
  }
  return undefined;
}

async function useOf(directory: string, workerId: number, now: number): Promise<string | undefined> {
  const stored = await readRecord(join(directory, 'workerID.json'), workerId).catch((error: unknown) => {
    if (hasCode(error, 'LEAF_WORKER_FILE_INVALID')) return 'unreadable' as const;
    throw error;
  });
  if (stored === undefined) return undefined;
  if (stored === 'unreadable') return 'whose record cannot be read';
  const lock = await lockDirectory(directory, `worker ${workerId}`);
  if (lock === undefined) return 'held by a running server';
  lock.release();
  const { ceiling } = stored.record;
  return ceiling < now ? undefined : `reserved until ${new Date(ceiling).toISOString()}`;
}

async function directoriesIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
