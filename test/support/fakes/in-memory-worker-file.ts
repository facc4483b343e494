import { LeafError } from '@leaf-ids/core';
import { type FileRecord, WorkerFile } from '@leaf-ids/core/internal';

/** The disk of one server, which survives its processes. */
export class InMemoryWorkerFile extends WorkerFile {
  readonly path = 'memory';
  record: FileRecord | undefined;
  /** Number of following writes that fail, as on a full disk. */
  failing = 0;

  open(): Promise<FileRecord | undefined> {
    return Promise.resolve(this.record);
  }

  write(record: FileRecord): Promise<void> {
    if (this.failing > 0) {
      this.failing--;
      return Promise.reject(new LeafError('LEAF_REGISTRY_UNREACHABLE', 'The disk is full.'));
    }
    this.record = record;
    return Promise.resolve();
  }

  close(): void {
    this.failing = 0;
  }
}
