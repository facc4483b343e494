import type { Subject } from './server-memory';
import { ID_PATH, settledMiB } from './server-memory';

/** Longer than the delay of the idle garbage collection in V8. */
const REST_MS = 30_000;

export interface StartReport {
  /** Time from the start of the process to its first ID, in milliseconds. */
  readonly startMs: number;
  readonly idleMiB: number;
  /** Memory after 30 s without requests. */
  readonly restedMiB: number | undefined;
}

/** The first start creates the data, which the later starts use. If `rest` is true, the last server is left idle. */
export async function measureStarts(
  subject: Subject,
  starts: number,
  env: NodeJS.ProcessEnv = {},
  { idPath = ID_PATH, rest = false } = {},
): Promise<StartReport[]> {
  const data = { LEAF_DATA_DIR: subject.folder(), ...env };
  const reports: StartReport[] = [];
  for (let start = 0; start < starts; start++) {
    const server = await subject.start(data, idPath);
    const idleMiB = await settledMiB(server);
    let restedMiB: number | undefined;
    if (rest && start === starts - 1) {
      restedMiB = await settledMiB(server, REST_MS);
    }
    reports.push({ startMs: server.startMs, idleMiB, restedMiB });
    await server.stop();
  }
  return reports;
}
