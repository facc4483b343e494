import { readFile, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type { Instance } from '@leaf-ids/core';
import { defaultLayout, type ImportedWorker, ImportFile, messageOf } from '@leaf-ids/core/internal';

/** The fork also writes the time of its last start, in Unix milliseconds. */
const FORMAT = /^workerID=(\d{1,4})(?:\r?\n(?:maxTimestamp=(\d{13}))?)?\s*$/;

/**
 * The worker file of the Java service, `<java.io.tmpdir>/<leaf.name>/leafconf/<port>/workerID.properties`. The name and
 * the port are only in its path.
 */
export class JavaWorkerFile extends ImportFile {
  readonly path: string;
  readonly layout = defaultLayout().fingerprint;

  /** @param name the `leaf.name` of the Java service */
  constructor(
    path: string,
    private readonly name: string,
  ) {
    super();
    this.path = resolve(path);
  }

  async read({ port }: Instance): Promise<ImportedWorker | string> {
    const place = join(this.name, 'leafconf', String(port), 'workerID.properties');
    if (!this.path.endsWith(`${sep}${place}`)) return `the path of the Java service for this server ends with ${place}`;
    try {
      const text = await readFile(this.path, 'latin1');
      const [, workerId, maxTimestamp = '0'] = FORMAT.exec(text) ?? [];
      if (workerId === undefined) return 'it is not a complete worker file of the Java service';
      const { mtimeMs } = await stat(this.path);
      return { workerId: Number(workerId), newest: Math.max(Number(maxTimestamp), Math.ceil(mtimeMs)) };
    } catch (error) {
      return messageOf(error);
    }
  }
}
