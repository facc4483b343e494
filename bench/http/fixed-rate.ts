import { type PhaseResult, runPhases } from '../studies/overload/phases';
import { CONNECTIONS } from './load-generator';
import type { Rig, Route } from './route';
import type { ServerProcess } from './server-process';

/** Of the peak of the same server in the same round. */
export const SHARE_OF_PEAK = 0.7;
/** Of what the generator can send at most: closer to it, its own turns would be what is measured. */
const SHARE_OF_LIMIT = 0.85;

export interface FixedRateLoad extends PhaseResult {
  readonly name: string;
  readonly perSecond: number;
  /** What `perSecond` is of the peak. */
  readonly share: number;
  /** Requests a second that the generator reached by itself, asking again at each answer. */
  readonly limit: number;
}

/** What the generator reaches on the quickest server, as fast as it can: the lower one of its limit and the server's. */
export async function generatorLimit(rig: Rig, { path }: Route, { port }: ServerProcess): Promise<number> {
  const phase = { connections: CONNECTIONS, perSecond: undefined, seconds: 1 };
  const [, result] = await runPhases(rig.sandbox, rig.cores, { port, path, phases: [phase, phase] });
  return result!.ok / phase.seconds;
}

/** Requests at a fixed rate, whatever becomes of those before; latencies from the moment each was due. */
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
