import { setTimeout as sleep } from 'node:timers/promises';
import { type FixedRateLoad, fixedRatesOf, generatorLimit, measureAtFixedRate } from './fixed-rate';
import type { Load, LoadGenerator } from './load-generator';
import { awaitIds } from './request';
import type { Rig, Route } from './route';
import { measureCalls } from './server-figures';
import { ServerProcess, type ServerOptions } from './server-process';

export interface RouteLoad extends Load {
  /** Successful requests per second. */
  readonly rate: number;
  /** CPU usage of the server in cores; undefined without /proc. */
  readonly serverCpu: number | undefined;
}

export interface RoundPlan {
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Results of each load at a fixed rate. */
  readonly fixedRateSeconds: number;
  /** Durations of sequential calls to the subject after the load. */
  readonly calls: number;
}

export interface Subject {
  readonly server: ServerOptions;
  readonly call: { readonly path: string; readonly ids: number };
}

export interface Round {
  /** In the order of the routes. */
  readonly loads: readonly RouteLoad[];
  /** By rate, and then in the order of the routes. */
  readonly fixedRateLoads: readonly FixedRateLoad[];
  /** Resident memory of the subject, in MiB. */
  readonly idleMiB: number | undefined;
  readonly loadedMiB: number | undefined;
  readonly callMs: readonly number[];
}

/** Time for timers and garbage collection after startup or load. */
export const SETTLE_MS = 2000;

/**
 * Restarts every server, because processes with the same code can differ in speed, and loads one route after the other,
 * starting with route number `first`.
 *
 * @param subject the server whose memory and calls are also measured
 * @throws Error if a server exits or a first response is invalid
 */
export async function measureRound(
  rig: Rig,
  routes: readonly Route[],
  subject: Subject,
  plan: RoundPlan,
  first: number,
): Promise<Round> {
  const servers = new Map<ServerOptions, ServerProcess>();
  for (const options of new Set([subject.server, ...routes.map(({ server }) => server)])) {
    servers.set(options, await ServerProcess.start(rig.sandbox, options));
  }
  const serverOf = (options: ServerOptions): ServerProcess => servers.get(options)!;
  await sleep(SETTLE_MS);
  const idleMiB = serverOf(subject.server).residentMiB();

  const order = [...routes.slice(first), ...routes.slice(0, first)];
  for (const route of order) await loadOf(route, serverOf(route.server), rig.generator, plan.warmUpSeconds);
  const loads = new Map<Route, RouteLoad>();
  for (const route of order) {
    loads.set(route, await loadOf(route, serverOf(route.server), rig.generator, plan.seconds));
  }
  const fixedRateLoads: FixedRateLoad[] = [];
  const rates = fixedRatesOf(routes);
  const limit = rates.length === 0 ? 0 : await generatorLimit(rig, routes[0]!, serverOf(routes[0]!.server));
  const parts = {
    serverOf: ({ server }: Route) => serverOf(server),
    peakOf: (route: Route) => loads.get(route)!.rate,
  };
  const steady = { limit, seconds: plan.fixedRateSeconds, reversed: first % 2 === 1 };
  for (const rate of rates) fixedRateLoads.push(...(await measureAtFixedRate(rig, rate, parts, steady)));

  await sleep(SETTLE_MS);
  const loadedMiB = serverOf(subject.server).residentMiB();
  const callMs = await measureCalls(serverOf(subject.server), subject.call, plan.calls);
  for (const server of servers.values()) await server.stop();
  return {
    loads: routes.map((route) => loads.get(route)!),
    fixedRateLoads,
    idleMiB,
    loadedMiB,
    callMs,
  };
}

/** @throws Error if the first response is invalid or there are no others */
export async function loadOf(
  { name, path, ids, connections }: Route,
  server: ServerProcess,
  generator: LoadGenerator,
  seconds: number,
): Promise<RouteLoad> {
  await awaitIds(server.port, path, ids);
  const before = server.cpuSeconds();
  const load = await generator.run(`http://127.0.0.1:${server.port}${path}`, seconds, connections);
  const after = server.cpuSeconds();
  server.assertAlive();
  if (load.requests === 0) throw new Error(`${name}: no response within ${seconds} s. Stop other work on the machine.`);
  const serverCpu = before === undefined || after === undefined ? undefined : (after - before) / load.seconds;
  return { ...load, rate: (load.requests - load.failures) / load.seconds, serverCpu };
}
