import { join } from 'node:path';
import type { Cores } from '../http/cores';
import type { Sandbox } from '../http/sandbox';
import type { SecondResult } from './second-records';

/** A load phase. */
export interface Phase {
  readonly connections: number;
  /** Requests per second; undefined for a closed loop at the maximum rate. */
  readonly perSecond: number | undefined;
  readonly seconds: number;
  /** Whether due requests wait for a free connection; otherwise they are dropped. */
  readonly waits?: boolean;
}

export interface Order {
  readonly port: number;
  readonly path: string;
  readonly phases: readonly Phase[];
}

export interface PhaseResult {
  readonly offered: number;
  /** Not sent, because no connection was free. */
  readonly unsent: number;
  readonly ok: number;
  /** Responses with 503. */
  readonly refused: number;
  /** Other responses, and requests without a response. */
  readonly failed: number;
  readonly seconds: number;
  /** Latency of responses with 200, from the time at which the request was due. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** Sent late, because no connection was free. */
  readonly waited: number;
  /** How late the generator noticed due requests: its own error, which is part of the latency. */
  readonly lateness: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  /** Connections that the server ended. */
  readonly ended: number;
  /** In milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly ofSeconds: readonly SecondResult[];
  /** Start of the first second in which hardly any requests fail, are not sent, or exceed the latency limit. */
  readonly calmFromMs: number;
}

const SLACK_MS = 20_000;

/** Runs the generator; rejects if it fails. */
export async function runPhases(sandbox: Sandbox, cores: Cores, order: Order): Promise<PhaseResult[]> {
  const seconds = order.phases.reduce((sum, phase) => sum + phase.seconds, 0);
  const command = cores.generator([process.execPath, join(__dirname, 'generator.js')]);
  const output = await sandbox.run(command, seconds * 1000 + SLACK_MS, `${JSON.stringify(order)}\n`);
  return JSON.parse(output) as PhaseResult[];
}
