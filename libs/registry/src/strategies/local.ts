import {
  formatInstance,
  type Instance,
  type StoredRegistry,
  type StoredWorker,
  type WorkerRecord,
} from '@leaf-ids/core';
import {
  both,
  object,
  processInstance,
  record,
  required,
  type Rules,
  text,
  that,
  whole,
} from '@leaf-ids/core/internal';
import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { FixedPolicy } from '../policies/fixed-policy';
import { DirectoryWorkerStore } from '../stores/directory/directory-store';
import { refuseDatabase } from './database';
import type { Strategy, StrategyContext } from './strategy';

/** Worker IDs from a configured map, for servers that share no registry. */
export interface LocalOptions {
  readonly strategy: 'local';
  /** `ip:port` → worker ID; `*` matches any instance. */
  readonly workers: Readonly<Record<string, number>>;
  /** Directory of the records. */
  readonly directory: string;
  /** The SQLite file of the tags: no worker ID of the registry beside it may be in use. */
  readonly databaseFile?: string;
}

/**
 * Refuses to start while a worker ID of the registry beside the SQLite file of the tags is in use: before the first
 * record is written, and once after it. Later, that registry does not start, because of the lock.
 */
class LocalStore extends DirectoryWorkerStore {
  private readonly file: string | undefined;
  private hasWritten = false;
  private isAlone = false;

  constructor(
    { workers, directory, databaseFile }: LocalOptions,
    private readonly context: StrategyContext,
  ) {
    super(workers, directory);
    this.file = databaseFile;
  }

  override async readRegistry(): Promise<StoredRegistry> {
    const { file, description, context, hasWritten } = this;
    if (!this.isAlone && file !== undefined) await refuseDatabase(description, file, context);
    this.isAlone = hasWritten;
    return super.readRegistry();
  }

  protected override write(workerId: number, record: WorkerRecord): Promise<StoredWorker> {
    this.hasWritten = true;
    return super.write(workerId, record);
  }
}

/** Worker IDs are assigned by hand and cannot run out. */
class AssignedPolicy extends FixedPolicy {
  override usage(): undefined {
    return undefined;
  }
}

/** The rule of a map of workers. */
export const localWorkersRule = both(
  record(whole(0)),
  both(
    that('must contain at least one instance', (workers: LocalOptions['workers']) => Object.keys(workers).length > 0),
    that('must give every instance a worker ID of its own', (workers: LocalOptions['workers']) => {
      const workerIds = Object.values(workers);
      return new Set(workerIds).size === workerIds.length;
    }),
  ),
);

const RULES: Rules<LocalOptions> = {
  strategy: text,
  workers: required(localWorkersRule),
  directory: required(text),
  databaseFile: text,
};

export const local: Strategy<LocalOptions> = {
  policy: 'fixed',
  rule: object(RULES),
  // The lock of the store ensures that no other process writes.
  remembers: () => true,
  create: (options, context) => ({ policy: new AssignedPolicy(), store: new LocalStore(options, context) }),
  fromSettings: ({ localWorkers, directory, databaseUrl }) => {
    const target = parseDatabaseUrl(databaseUrl);
    const databaseFile = 'file' in target ? target.file : undefined;
    return { strategy: 'local', workers: localWorkers, directory, ...(databaseFile && { databaseFile }) };
  },
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
