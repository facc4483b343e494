import { join } from 'node:path';
import type { Cores } from '../../http/cores';
import type { Sandbox } from '../../http/sandbox';

/** A stretch of load. */
export interface Phase {
  readonly connections: number;
  /** Undefined: as much as the connections can carry, each asking again when it is answered. */
  readonly perSecond: number | undefined;
  readonly seconds: number;
  /** A request that is due while no connection is free waits for one; otherwise it is left out, as its client gave up. */
  readonly waits?: boolean;
}

export interface Order {
  readonly port: number;
  readonly path: string;
  readonly phases: readonly Phase[];
}

export interface PhaseResult {
  readonly offered: number;
  /** Found no connection free: not sent. */
  readonly unsent: number;
  readonly ok: number;
  /** Answered 503. */
  readonly refused: number;
  /** Answered otherwise, or not at all. */
  readonly failed: number;
  readonly seconds: number;
  /** Of answers with 200, from the moment the request was due. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** Sent later, since no connection was free when they were seen to be due. */
  readonly waited: number;
  /** How long after its due moment a request was seen to be due: the generator's own error, and part of the latency. */
  readonly lateness: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  /** When a second begins in which hardly any request is refused, lost, not sent, or takes longer than the limit. */
  readonly calmFromMs: number;
}

const SLACK_MS = 20_000;

/** Runs the generator; rejects when it fails. */
export async function runPhases(sandbox: Sandbox, cores: Cores, order: Order): Promise<PhaseResult[]> {
  const seconds = order.phases.reduce((sum, phase) => sum + phase.seconds, 0);
  const command = cores.generator([process.execPath, join(__dirname, 'generator.js')]);
  const output = await sandbox.run(command, seconds * 1000 + SLACK_MS, `${JSON.stringify(order)}\n`);
  return JSON.parse(output) as PhaseResult[];
}
