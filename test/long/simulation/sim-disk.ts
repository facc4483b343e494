import { formatInstance, type Instance, LeafError } from '@leaf-ids/core';
import { type FileRecord, WorkerFile } from '@leaf-ids/core/internal';
import type { Caller } from './network';
import type { Scheduler } from './scheduler';
import type { SimServer } from './sim-server';

/** A data directory. A copy is a different directory, and so is one that replaces a removed one. */
export interface Directory {
  /** What it is a copy of, and what it replaces if it decides alone. */
  readonly lineage: readonly string[];
  record: FileRecord | undefined;
  lockedBy: Caller | undefined;
  /** The records of the `local` strategy. */
  readonly server: SimServer;
}

/** The disk of one place. */
export interface Disk {
  directory: Directory;
}

export function notInPlace(): LeafError {
  return new LeafError('LEAF_REGISTRY_UNREACHABLE', 'The data directory is no longer at its place.', {
    retryAfterMs: 1000,
  });
}

/** The worker file of one process. Writes are atomic. */
export class SimFile extends WorkerFile {
  readonly path = 'workerID.properties';
  private opened: Directory | undefined;

  constructor(
    private readonly disk: Disk,
    private readonly caller: Caller,
    private readonly scheduler: Scheduler,
    private readonly onWrite: (record: FileRecord) => void,
  ) {
    super();
  }

  open(instance: Instance): Promise<FileRecord | undefined> {
    if (this.opened === undefined) {
      const { directory } = this.disk;
      const { lockedBy, record } = directory;
      if (lockedBy?.alive)
        return Promise.reject(new LeafError('LEAF_WORKER_HELD', 'Another process has the directory.'));
      if (record !== undefined && record.instance !== formatInstance(instance)) {
        return Promise.reject(new LeafError('LEAF_WORKER_FILE_INVALID', `It is of ${record.instance}.`));
      }
      directory.lockedBy = this.caller;
      this.opened = directory;
    }
    return Promise.resolve(this.opened.record);
  }

  write(record: FileRecord): Promise<void> {
    const { opened, scheduler, caller } = this;
    return new Promise((resolve, reject) => {
      const act = (): void => {
        if (opened === undefined || this.disk.directory !== opened) {
          reject(notInPlace());
          return;
        }
        opened.record = record;
        this.onWrite(record);
        resolve();
      };
      scheduler.at(caller.clock.local + caller.random.spread(0.05, 30), 'file written', act, caller);
    });
  }

  /** Goes on with the directory of the place, as the copy of a process does. */
  adopt(): void {
    this.opened = this.disk.directory;
    this.opened.lockedBy = this.caller;
  }

  close(): void {
    if (this.opened?.lockedBy === this.caller) this.opened.lockedBy = undefined;
  }
}
