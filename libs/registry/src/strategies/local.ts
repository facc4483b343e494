import { formatInstance, type Instance } from '@leaf-ids/core';
import { both, object, processInstance, record, required, type Rules, text, whole } from '@leaf-ids/core/internal';
import { FixedPolicy } from '../policies/fixed-policy';
import { DirectoryWorkerStore } from '../stores/directory/directory-store';
import type { Strategy } from './strategy';

/** Worker IDs from a configured map, for servers that share no registry. */
export interface LocalOptions {
  readonly strategy: 'local';
  /** `ip:port` → worker ID; `*` matches any instance. */
  readonly workers: Readonly<Record<string, number>>;
  /** Directory of the records. */
  readonly directory: string;
}

/** Worker IDs are assigned by hand and cannot run out. */
class AssignedPolicy extends FixedPolicy {
  override usage(): undefined {
    return undefined;
  }
}

/** Whether no two instances have the same worker ID. */
export function haveOwnWorkers(workers: LocalOptions['workers']): boolean {
  const workerIds = Object.values(workers);
  return new Set(workerIds).size === workerIds.length;
}

function workerFaults(workers: LocalOptions['workers'], name: string): string[] {
  if (Object.keys(workers).length === 0) return [`${name} must contain at least one instance`];
  return haveOwnWorkers(workers) ? [] : [`${name} must give every instance a worker ID of its own`];
}

const RULES: Rules<LocalOptions> = {
  strategy: text,
  workers: required(both(record(whole(0)), (value, name) => workerFaults(value as LocalOptions['workers'], name))),
  directory: required(text),
};

export const local: Strategy<LocalOptions> = {
  policy: 'fixed',
  rule: object(RULES),
  // The lock of the store ensures that no other process writes.
  create: ({ workers, directory }) => ({
    policy: new AssignedPolicy(),
    store: new DirectoryWorkerStore(workers, directory),
    remembers: true,
  }),
  fromSettings: ({ localWorkers, directory }) => ({ strategy: 'local', workers: localWorkers, directory }),
  ofProcess: (options, server, process) => ({ ...options, workers: workersAfter(options.workers, server, process) }),
};

/** The worker map of an additional process: each worker ID is increased by `process`. */
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
