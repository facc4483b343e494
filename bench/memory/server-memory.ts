import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../http/sandbox';
import { ServerProcess } from '../http/server-process';

/** The first tag that a new database has. */
export const ID_PATH = '/api/segment/get/leaf-segment-test';
/** Long enough for timers and garbage of what was done to be gone. */
const SETTLE_MS = 2000;
/** A machine that is busy with other things shall change no figure of memory. */
const NEVER_LATE_MS = '60000';

/** The built server under test. */
export class Subject {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly main: string,
  ) {}

  /** A folder for the data of several servers, one after the other. */
  folder(): string {
    return this.sandbox.folder();
  }

  /** Starts a server and waits for its first ID. */
  start(env: NodeJS.ProcessEnv, readyPath = ID_PATH): Promise<ServerProcess> {
    const settings = { LEAF_MAX_LAG_MS: NEVER_LATE_MS, ...env };
    return ServerProcess.start(this.sandbox, { command: [process.execPath, this.main], readyPath, env: settings });
  }
}

/** What the operating system holds in memory for the process, a moment after all work; NaN where there is no /proc. */
export async function settledMiB(server: ServerProcess): Promise<number> {
  await sleep(SETTLE_MS);
  server.assertAlive();
  return server.residentMiB() ?? NaN;
}
