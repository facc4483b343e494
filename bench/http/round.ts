import { setTimeout as sleep } from 'node:timers/promises';
import type { Load, LoadGenerator } from './load-generator';
import { requestId } from './request';
import type { Sandbox } from './sandbox';
import { measureRanges } from './server-figures';
import { ServerProcess, type ServerOptions } from './server-process';

/** One path of one of the servers under test. */
export interface Route {
  readonly name: string;
  readonly server: ServerOptions;
  readonly path: string;
}

export interface RouteLoad extends Load {
  readonly rate: number;
  /** Share of one core that the server used; undefined where that cannot be read. */
  readonly serverCpu: number | undefined;
}

export interface RoundPlan {
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Range calls after the load. */
  readonly ranges: number;
}

export interface Round {
  /** In the order of the routes. */
  readonly loads: readonly RouteLoad[];
  /** Resident memory of the subject, in MiB. */
  readonly idleMiB: number | undefined;
  readonly loadedMiB: number | undefined;
  readonly rangeMs: readonly number[];
}

/** Long enough for timers and garbage of the start or the load to be gone. */
export const SETTLE_MS = 2000;

/**
 * Starts every server anew, since one process can be faster than the next with the same code; loads one route after the
 * other, route number `first` first.
 *
 * @param subject the server whose memory and ranges are measured too
 * @throws Error at the first request that fails
 */
export async function measureRound(
  sandbox: Sandbox,
  generator: LoadGenerator,
  routes: readonly Route[],
  subject: { readonly server: ServerOptions; readonly rangePath: string },
  plan: RoundPlan,
  first: number,
): Promise<Round> {
  const servers = new Map<ServerOptions, ServerProcess>();
  for (const options of new Set([subject.server, ...routes.map(({ server }) => server)])) {
    servers.set(options, await ServerProcess.start(sandbox, options));
  }
  const serverOf = (options: ServerOptions): ServerProcess => servers.get(options)!;
  await sleep(SETTLE_MS);
  const idleMiB = serverOf(subject.server).residentMiB();

  const order = [...routes.slice(first), ...routes.slice(0, first)];
  for (const route of order) await loadOf(route, serverOf(route.server), generator, plan.warmUpSeconds);
  const loads = new Map<Route, RouteLoad>();
  for (const route of order) {
    loads.set(route, await loadOf(route, serverOf(route.server), generator, plan.seconds));
  }

  await sleep(SETTLE_MS);
  const loadedMiB = serverOf(subject.server).residentMiB();
  const rangeMs = await measureRanges(serverOf(subject.server), subject.rangePath, plan.ranges);
  for (const server of servers.values()) await server.stop();
  return { loads: routes.map((route) => loads.get(route)!), idleMiB, loadedMiB, rangeMs };
}

async function loadOf(
  { name, path }: Route,
  server: ServerProcess,
  generator: LoadGenerator,
  seconds: number,
): Promise<RouteLoad> {
  await requestId(server.port, path);
  const before = server.cpuSeconds();
  const load = await generator.run(`http://127.0.0.1:${server.port}${path}`, seconds);
  const after = server.cpuSeconds();
  server.assertAlive();
  if (load.failures > 0 || load.requests === 0) {
    throw new Error(`${name}: ${load.failures} of ${load.requests} requests failed.`);
  }
  const serverCpu = before === undefined || after === undefined ? undefined : (after - before) / load.seconds;
  return { ...load, rate: load.requests / load.seconds, serverCpu };
}
