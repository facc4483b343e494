import { setTimeout as sleep } from 'node:timers/promises';
import { BitLayout, DEFAULT_LAYOUT } from '@leaf-ids/core';
import { percent } from '../../test/support/table';
import { runPhases } from '../load/phases';
import { shareCores } from './cores';
import { CONNECTIONS } from './load-generator';
import { ofProcesses } from './processes';
import { childrenOf } from './processor-time';
import { request } from './request';
import { SETTLE_MS } from './round';
import type { Sandbox } from './sandbox';
import { type ServerOptions, ServerProcess } from './server-process';

export const PROCESSES = 4;
const PER_SECOND = 5000;
const SECONDS = 5;
/** After the start of the generator, which opens its connections first. */
const KILL_AFTER_MS = 2000;
const REPLACED_WITHIN_MS = 30_000;
const LOOK_MS = 50;
const ANSWER_LIMIT_MS = 10_000;

/** What happened to clients when one of the processes of a server was killed and replaced. */
export interface RestartReport {
  /** Open connections before, and those of them that ended. */
  readonly connections: number;
  readonly ended: number;
  readonly requests: number;
  /** Requests without a response. */
  readonly failed: number;
  /** Requests with another response than 200. */
  readonly refused: number;
  /** New connections to the server afterwards, and those of them that the new process got. */
  readonly opened: number;
  readonly taken: number;
}

/** Kills one of the processes with SIGKILL under load. Undefined if the processes cannot be found. */
export async function measureRestart(
  sandbox: Sandbox,
  leaf: ServerOptions,
  path: string,
): Promise<RestartReport | undefined> {
  const server = await ServerProcess.start(sandbox, ofProcesses(leaf, PROCESSES));
  try {
    await sleep(SETTLE_MS);
    const before = childrenOf(server.pid);
    if (before.length !== PROCESSES) return undefined;
    const known = await workersOf(server, path);
    const phase = { connections: CONNECTIONS, perSecond: PER_SECOND, seconds: SECONDS, waits: true };
    const load = runPhases(sandbox, shareCores(), { port: server.port, path, phases: [phase] });
    await sleep(KILL_AFTER_MS);
    process.kill(before[PROCESSES - 1]!, 'SIGKILL');
    const [result] = await load;
    const { ended, ok, failed, refused } = result!;
    const workers = await replacedWorkers(server, path, known);
    const taken = workers.filter((worker) => !known.includes(worker)).length;
    return {
      ...{ connections: CONNECTIONS, ended, requests: ok + failed + refused, failed, refused },
      ...{ opened: workers.length, taken },
    };
  } finally {
    await server.stop();
  }
}

/** Waits until a new process responds, then opens connections. @returns the worker ID of the process of each one */
async function replacedWorkers(server: ServerProcess, path: string, known: readonly number[]): Promise<number[]> {
  const limit = performance.now() + REPLACED_WITHIN_MS;
  while (performance.now() < limit) {
    await sleep(LOOK_MS);
    const workers = await workersOf(server, path);
    if (workers.some((worker) => !known.includes(worker))) return workersOf(server, path, CONNECTIONS);
  }
  throw new Error(`No process has replaced the killed one within ${REPLACED_WITHIN_MS} ms.`);
}

/** Opens connections. @returns the worker ID of the process of each one */
async function workersOf(server: ServerProcess, path: string, connections = 2 * PROCESSES): Promise<number[]> {
  const layout = new BitLayout(DEFAULT_LAYOUT);
  const workers: number[] = [];
  for (let index = 0; index < connections; index++) {
    const { text } = await request(server.port, path, ANSWER_LIMIT_MS);
    workers.push(layout.decompose(BigInt(text)).workerId);
  }
  return workers;
}

export function describeRestart(report: RestartReport): string {
  const { connections, ended, requests, failed, refused, opened, taken } = report;
  return [
    `One of ${PROCESSES} processes killed at ${PER_SECOND} requests/s: ${ended} of ${connections} connections ended,`,
    `${failed} of ${requests} requests failed, ${refused} refused;`,
    `the new process got ${taken} of ${opened} new connections (${percent(taken / opened)}).`,
  ].join(' ');
}
