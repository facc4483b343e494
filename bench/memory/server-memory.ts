import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../http/sandbox';
import { ServerProcess } from '../http/server-process';

/** The tag in a new database. */
export const ID_PATH = '/api/segment/get/leaf-segment-test';
/** Time for timers and garbage collection. */
const SETTLE_MS = 2000;
/** Prevents overload refusals on a busy machine, which would affect the memory results. */
const NEVER_LATE_MS = '60000';

/** The built server under test. */
export class Subject {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly main: string,
  ) {}

  /** A data folder for several consecutive servers. */
  folder(): string {
    return this.sandbox.folder();
  }

  /** Starts a server and waits for its first ID. */
  start(env: NodeJS.ProcessEnv, readyPath = ID_PATH): Promise<ServerProcess> {
    const settings = { LEAF_MAX_LAG_MS: NEVER_LATE_MS, ...env };
    return ServerProcess.start(this.sandbox, { command: [process.execPath, this.main], readyPath, env: settings });
  }
}

/** Resident memory of the process after a time without work, by default a short one; NaN without /proc. */
export async function settledMiB(server: ServerProcess, restMs = SETTLE_MS): Promise<number> {
  await sleep(restMs);
  server.assertAlive();
  return server.residentMiB() ?? NaN;
}
