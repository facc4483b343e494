import type { Subject } from './server-memory';
import { ID_PATH, settledMiB } from './server-memory';

export interface StartReport {
  /** Milliseconds from the start of the process to its first ID. */
  readonly startMs: number;
  readonly idleMiB: number;
}

/** The first start makes the data; the later ones find it. */
export async function measureStarts(
  subject: Subject,
  starts: number,
  env: NodeJS.ProcessEnv = {},
  idPath = ID_PATH,
): Promise<StartReport[]> {
  const data = { LEAF_DATA_DIR: subject.folder(), ...env };
  const reports: StartReport[] = [];
  for (let start = 0; start < starts; start++) {
    const server = await subject.start(data, idPath);
    reports.push({ startMs: server.startMs, idleMiB: await settledMiB(server) });
    await server.stop();
  }
  return reports;
}
