import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../http/sandbox';
import { ServerProcess } from '../http/server-process';

/** The tag in a new database. */
export const ID_PATH = '/api/segment/get/leaf-segment-test';
/** Time for timers and garbage collection. */
const SETTLE_MS = 2000;
/** Longer than the delay of the idle garbage collection in V8. */
const REST_MS = 30_000;
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

export interface StartReport {
  /** Time from the start of the process to its first ID, in milliseconds. */
  readonly startMs: number;
  readonly idleMiB: number;
  /** Memory after 30 s without requests; NaN if not measured. */
  readonly restedMiB: number;
}

/** @param rest whether it then stays idle for a while */
export async function measureStart(
  subject: Subject,
  env: NodeJS.ProcessEnv,
  { idPath = ID_PATH, rest = false } = {},
): Promise<StartReport> {
  const server = await subject.start(env, idPath);
  const idleMiB = await settledMiB(server);
  const restedMiB = rest ? await settledMiB(server, REST_MS) : NaN;
  await server.stop();
  return { startMs: server.startMs, idleMiB, restedMiB };
}

/** Resident memory with a number of idle keep-alive connections, each of which has received one response. */
export interface ConnectionReport {
  readonly connections: number;
  readonly residentMiB: number;
}

/** @param counts numbers of connections at which memory is measured, ascending */
export async function measureConnections(
  subject: Subject,
  sandbox: Sandbox,
  counts: readonly number[],
): Promise<ConnectionReport[]> {
  const limit = String(Math.max(...counts) + 100);
  const server = await subject.start({ LEAF_DATA_DIR: subject.folder(), LEAF_MAX_CONNECTIONS: limit });
  const client = sandbox.spawn([process.execPath, join(__dirname, 'connection-holder.js'), String(server.port)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const reports: ConnectionReport[] = [];
  for (const connections of counts) {
    client.send(connections);
    const [open] = (await once(client, 'message')) as [number];
    if (open !== connections) throw new Error(`Only ${open} of ${connections} connections received a response.`);
    reports.push({ connections, residentMiB: await settledMiB(server) });
  }
  client.kill();
  await server.kill();
  return reports;
}
