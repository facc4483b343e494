import type { Instance } from './instance';

/** The worker of another program at our address, as its file shows it. */
export interface ImportedWorker {
  readonly workerId: number;
  /** Unix milliseconds: the latest time in the file, and the time of its last change. */
  readonly newest: number;
}

/** The worker file of another program, which this server replaces. It is only read. */
export abstract class ImportFile {
  /** Path of the file, for error messages. */
  abstract readonly path: string;
  /** Bit layout and epoch of the IDs of that program. */
  abstract readonly layout: string;

  /** @returns a description of the fault if the file does not exist, is invalid or does not belong to `instance` */
  abstract read(instance: Instance): Promise<ImportedWorker | string>;
}
