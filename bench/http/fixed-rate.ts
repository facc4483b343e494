import { type PhaseResult, runPhases } from '../load/phases';
import type { SecondResult } from '../load/second-records';
import { CoreWatch, type Loss } from './core-watch';
import { CONNECTIONS } from './load-generator';
import type { Rig, Route } from './route';
import type { ServerProcess } from './server-process';

const SHARE_OF_PEAK = 0.7;
const RATE = 20_000;
/** Share of the maximum rate of the generator. At a higher share, its own event loop would dominate the latency. */
const SHARE_OF_LIMIT = 0.85;
/** Of the peak of the slowest server. At a higher share, a queue would grow until the end. */
const MAX_SHARE_OF_PEAK = 0.9;

/** A rate at which several routes are measured one after the other; the first is the baseline. */
export interface FixedRate {
  readonly name: string;
  /** Whether it is the share of a peak; otherwise the same for every server. */
  readonly ofPeak: boolean;
  readonly routes: readonly Route[];
  perSecond(peakOf: Servers['peakOf']): number;
}

export interface FixedRateLoad extends PhaseResult {
  readonly name: string;
  /** Name of the rate. */
  readonly at: string;
  readonly ofPeak: boolean;
  readonly perSecond: number;
  /** `perSecond` as a share of the peak of this route. */
  readonly share: number;
  /** `perSecond` as a share of the rate that was wanted. */
  readonly ofWanted: number;
  /** Maximum requests per second of the generator in a closed loop. */
  readonly limit: number;
  /** The longest time in each second that other work took from the server at once, in milliseconds, if known. */
  readonly lostMs: readonly (number | undefined)[];
}

/** 70 % of the peak of each route, also of the baseline at this rate; then the same rate for all. */
export function fixedRatesOf(routes: readonly Route[]): FixedRate[] {
  const [baseline, ...others] = routes.filter(({ atFixedRate = false }) => atFixedRate);
  if (baseline === undefined) return [];
  const ofPeaks = others.map((route) => ({
    name: `70 % of ${route.name}`,
    ofPeak: true,
    routes: [baseline, route],
    perSecond: (peakOf: Servers['peakOf']) => SHARE_OF_PEAK * peakOf(route),
  }));
  return [...ofPeaks, { name: '20,000/s', ofPeak: false, routes: [baseline, ...others], perSecond: () => RATE }];
}

/** The maximum rate on the fastest server: the lower of the limits of the generator and the server. */
export async function generatorLimit(rig: Rig, { path }: Route, { port }: ServerProcess): Promise<number> {
  const phase = { connections: CONNECTIONS, perSecond: undefined, seconds: 1 };
  const [, result] = await runPhases(rig.sandbox, rig.cores, { port, path, phases: [phase, phase] });
  return result!.ok / phase.seconds;
}

interface Servers {
  readonly serverOf: (route: Route) => ServerProcess;
  /** The peak of a route in this round, in requests per second. */
  readonly peakOf: (route: Route) => number;
}

/**
 * Sends requests at a fixed rate (open loop) to one route after the other. Latency counts from the time at which each
 * request was due.
 *
 * @param reversed whether to begin with the last route
 */
export async function measureAtFixedRate(
  rig: Rig,
  rate: FixedRate,
  { serverOf, peakOf }: Servers,
  { limit, seconds, reversed }: { readonly limit: number; readonly seconds: number; readonly reversed: boolean },
): Promise<FixedRateLoad[]> {
  const { name: at, ofPeak, routes } = rate;
  const wanted = rate.perSecond(peakOf);
  const highest = Math.min(limit * SHARE_OF_LIMIT, ...routes.map((route) => peakOf(route) * MAX_SHARE_OF_PEAK));
  const perSecond = Math.floor(Math.min(wanted, highest));
  const phase = { connections: CONNECTIONS, perSecond, seconds, waits: true };
  const loads = new Map<Route, FixedRateLoad>();
  for (const route of reversed ? [...routes].reverse() : routes) {
    const server = serverOf(route);
    const watch = CoreWatch.start(server.pid);
    const order = { port: server.port, path: route.path, phases: [phase] };
    const [result] = await runPhases(rig.sandbox, rig.cores, order).finally(() => watch?.stop());
    server.assertAlive();
    const lostMs = result!.ofSeconds.map((_, second) => longest(watch?.losses, result!.startedAtMs + second * 1000));
    const rates = { perSecond, share: perSecond / peakOf(route), ofWanted: perSecond / wanted, limit };
    loads.set(route, { ...result!, name: route.name, at, ofPeak, ...rates, lostMs });
  }
  return routes.map((route) => loads.get(route)!);
}

/** Of the windows that overlap a second. */
function longest(losses: readonly Loss[] | undefined, fromMs: number): number | undefined {
  const within = losses?.filter((loss, index) => {
    const { atMs: beginMs = 0 } = losses[index - 1] ?? {};
    return loss.atMs > fromMs && beginMs < fromMs + 1000;
  });
  return within && Math.max(...within.map(({ lostMs }) => lostMs));
}

/** Whether nothing else took more than this at once from the server or the generator, in milliseconds. */
const CALM_MS = 2;

/** The seconds after the first one, which is warm-up, in which neither the server nor the generator lost time. */
export function calmSeconds({ ofSeconds, lostMs }: FixedRateLoad): SecondResult[] {
  return ofSeconds.filter(
    ({ latenessMaxMs }, second) => second > 0 && Math.max(latenessMaxMs, lostMs[second] ?? 0) <= CALM_MS,
  );
}
