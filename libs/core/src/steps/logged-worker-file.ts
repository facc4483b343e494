import type { Instance } from '../worker/records/instance';
import { attemptsOf, type FileRecord, WorkerFile } from '../worker/records/worker-file';
import { leaseStep, type StepLog } from './step-log';

/** Records what a worker file proves. */
export class LoggedWorkerFile extends WorkerFile {
  readonly path: string;

  constructor(
    private readonly file: WorkerFile,
    private readonly log: StepLog,
  ) {
    super();
    this.path = file.path;
  }

  async open(instance: Instance): Promise<FileRecord | undefined> {
    const record = await this.file.open(instance);
    if (record !== undefined) this.add(record, true);
    return record;
  }

  async write(record: FileRecord): Promise<void> {
    await this.file.write(record);
    this.add(record, false);
  }

  close(): void {
    this.file.close();
  }

  private add({ workerId, ceiling, state, leaseId, attempt }: FileRecord, opened: boolean): void {
    const leases = [leaseId, ...attemptsOf(attempt)].map(leaseStep);
    this.log.add({ kind: 'file', opened, worker: workerId, ceiling, state, leases });
  }
}
