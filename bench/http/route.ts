import { arrangeCores, type Cores } from './cores';
import { chooseGenerator, type GeneratorReport, type LoadGenerator } from './load-generator';
import { requestIds } from './request';
import { Sandbox } from './sandbox';
import type { ServerOptions, ServerProcess } from './server-process';

/** The load generator and the cores. */
export interface Rig {
  readonly sandbox: Sandbox;
  readonly cores: Cores;
  readonly generator: LoadGenerator;
}

export function openRig(cores = arrangeCores()): Rig {
  const sandbox = new Sandbox();
  return { sandbox, cores, generator: chooseGenerator(sandbox, cores) };
}

/** One path of one of the servers under test. */
export interface Route {
  readonly name: string;
  readonly server: ServerOptions;
  readonly path: string;
  /** IDs per response. */
  readonly ids: number;
  /** Number of connections, if not the default. */
  readonly connections?: number;
  /** Whether its latency is also measured at a fixed rate. */
  readonly atFixedRate?: boolean;
}

export interface RouteLoad extends GeneratorReport {
  /** Successful requests per second. */
  readonly rate: number;
  /** CPU usage of the server in cores; NaN without /proc. */
  readonly serverCpu: number;
  /** Successful requests per second of CPU time of the server. */
  readonly perCpu: number;
}

/** @throws Error if the first response is invalid or there are no others */
export async function loadOf(
  { name, path, ids, connections }: Omit<Route, 'server'>,
  server: ServerProcess,
  generator: LoadGenerator,
  seconds: number,
): Promise<RouteLoad> {
  await requestIds(server.port, path, ids);
  const before = server.cpuSeconds() ?? NaN;
  const load = await generator.run(`http://127.0.0.1:${server.port}${path}`, seconds, connections);
  const serverCpu = ((server.cpuSeconds() ?? NaN) - before) / load.seconds;
  server.assertAlive();
  if (load.requests === 0) throw new Error(`${name}: no response within ${seconds} s. Stop other work on the machine.`);
  const rate = (load.requests - load.failures) / load.seconds;
  return { ...load, rate, serverCpu, perCpu: rate / serverCpu };
}
