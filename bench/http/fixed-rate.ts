import { type PhaseResult, runPhases } from '../studies/overload/phases';
import { CONNECTIONS } from './load-generator';
import type { Rig, Route } from './route';
import type { ServerProcess } from './server-process';

/** Share of the peak rate of the same server in the same round. */
export const SHARE_OF_PEAK = 0.7;
/** Share of the maximum rate of the generator. At a higher share, its own event loop would dominate the latency. */
const SHARE_OF_LIMIT = 0.85;

export interface FixedRateLoad extends PhaseResult {
  readonly name: string;
  readonly perSecond: number;
  /** `perSecond` as a share of the peak. */
  readonly share: number;
  /** Maximum requests per second of the generator in a closed loop. */
  readonly limit: number;
}

/** The maximum rate on the fastest server: the lower of the limits of the generator and the server. */
export async function generatorLimit(rig: Rig, { path }: Route, { port }: ServerProcess): Promise<number> {
  const phase = { connections: CONNECTIONS, perSecond: undefined, seconds: 1 };
  const [, result] = await runPhases(rig.sandbox, rig.cores, { port, path, phases: [phase, phase] });
  return result!.ok / phase.seconds;
}

/** Sends requests at a fixed rate (open loop). Latency counts from the time at which each request was due. */
export async function measureAtFixedRate(
  rig: Rig,
  { name, path }: Route,
  server: ServerProcess,
  peak: number,
  limit: number,
  seconds: number,
): Promise<FixedRateLoad> {
  const perSecond = Math.floor(Math.min(peak * SHARE_OF_PEAK, limit * SHARE_OF_LIMIT));
  const phase = { connections: CONNECTIONS, perSecond, seconds, waits: true };
  const [result] = await runPhases(rig.sandbox, rig.cores, { port: server.port, path, phases: [phase] });
  server.assertAlive();
  return { ...result!, name, perSecond, share: perSecond / peak, limit };
}
