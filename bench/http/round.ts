import { setTimeout as sleep } from 'node:timers/promises';
import { type FixedRateLoad, measureAtFixedRate } from './fixed-rate';
import { loadOf, type Rig, type Route, type RouteLoad } from './route';
import { ServerProcess, type ServerOptions } from './server-process';

export interface RoundPlan {
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Duration of each load at a fixed rate. */
  readonly fixedRateSeconds: number;
}

export interface Round {
  /** In the order of the routes. */
  readonly loads: readonly RouteLoad[];
  /** Of the routes that are measured at a fixed rate. */
  readonly fixedRateLoads: readonly FixedRateLoad[];
}

/** Time for timers and garbage collection after startup. */
const SETTLE_MS = 2000;

/**
 * Restarts every server, because processes with the same code can differ in speed, and loads one route after the other,
 * starting with route number `first`.
 *
 * @throws Error if a server exits or a first response is invalid
 */
export async function measureRound(rig: Rig, routes: readonly Route[], plan: RoundPlan, first: number): Promise<Round> {
  const servers = new Map<ServerOptions, ServerProcess>();
  for (const options of new Set(routes.map(({ server }) => server))) {
    servers.set(options, await ServerProcess.start(rig.sandbox, options));
  }
  const serverOf = ({ server }: Route): ServerProcess => servers.get(server)!;
  await sleep(SETTLE_MS);

  const order = [...routes.slice(first), ...routes.slice(0, first)];
  for (const route of order) await loadOf(route, serverOf(route), rig.generator, plan.warmUpSeconds);
  const loads = new Map<Route, RouteLoad>();
  for (const route of order) loads.set(route, await loadOf(route, serverOf(route), rig.generator, plan.seconds));
  const fixedRateLoads: FixedRateLoad[] = [];
  const parts = { serverOf, peakOf: (route: Route) => loads.get(route)!.rate };
  const steady = { seconds: plan.fixedRateSeconds, reversed: first % 2 === 1 };
  for (const route of routes.filter(({ atFixedRate = false }) => atFixedRate)) {
    fixedRateLoads.push(await measureAtFixedRate(rig, [routes[0]!, route], parts, steady));
  }
  for (const server of servers.values()) await server.stop();
  return { loads: routes.map((route) => loads.get(route)!), fixedRateLoads };
}
