import { setTimeout as sleep } from 'node:timers/promises';
import type { Subject } from './server-memory';
import { ID_PATH, settledMiB } from './server-memory';

/** Longer than V8 waits before it tidies up a process that does nothing. */
const REST_MS = 30_000;

export interface StartReport {
  /** Milliseconds from the start of the process to its first ID. */
  readonly startMs: number;
  readonly idleMiB: number;
  /** After half a minute without a request. */
  readonly restedMiB: number | undefined;
}

/** The first start makes the data; the later ones find it. The last one is left to rest, too, if `rest` says so. */
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
      await sleep(REST_MS);
      restedMiB = await settledMiB(server);
    }
    reports.push({ startMs: server.startMs, idleMiB, restedMiB });
    await server.stop();
  }
  return reports;
}
