import { formatInstance, type Instance, processInstance } from '@leaf-ids/core';
import { FixedPolicy } from '../policies/fixed-policy';
import { DirectoryWorkerStore } from '../stores/directory/directory-store';
import type { Strategy } from './strategy';

/** Worker IDs from a configured map, for servers that share no registry. */
export interface LocalOptions {
  readonly strategy: 'local';
  /** `ip:port` → worker ID; `*` stands for any instance. */
  readonly workers: Readonly<Record<string, number>>;
  /** Where the records are kept. */
  readonly directory: string;
}

/** Worker IDs are assigned by hand and cannot run out. */
class AssignedPolicy extends FixedPolicy {
  override usage(): undefined {
    return undefined;
  }
}

export const local: Strategy<LocalOptions> = {
  policy: 'fixed',
  // The lock of its store proves that no other process writes.
  create: ({ workers, directory }) => ({
    policy: new AssignedPolicy(),
    store: new DirectoryWorkerStore(workers, directory),
    remembers: true,
  }),
  fromSettings: ({ localWorkers, directory }) => ({ strategy: 'local', workers: localWorkers, directory }),
  ofProcess: (options, server, process) => ({ ...options, workers: workersAfter(options.workers, server, process) }),
};

/** The worker IDs that follow those of the map. */
function workersAfter(
  workers: LocalOptions['workers'],
  server: Instance,
  process: number,
): Readonly<Record<string, number>> {
  const own = formatInstance(server);
  return Object.fromEntries(
    Object.entries(workers).map(([instance, workerId]) => [
      instance === own ? formatInstance(processInstance(server, process)) : instance,
      workerId + process,
    ]),
  );
}
