import { setTimeout as sleep } from 'node:timers/promises';
import type { Cores } from '../../http/cores';
import { request } from '../../http/request';
import type { Sandbox } from '../../http/sandbox';
import { ServerProcess } from '../../http/server-process';
import { type PhaseResult, runPhases } from './phases';
import type { Scenario } from './scenarios';

export interface OverloadPlan {
  readonly warmUpSeconds: number;
  readonly peakSeconds: number;
  readonly overloadSeconds: number;
  readonly afterSeconds: number;
}

export interface OverloadResult {
  readonly name: string;
  readonly path: string;
  readonly connections: number;
  /** Maximum responses with 200 per second. */
  readonly peak: number;
  readonly overload: PhaseResult;
  /** Half the peak, immediately after the overload. */
  readonly after: PhaseResult;
  /** CPU usage in cores during the overload and the phase after it; undefined without /proc. */
  readonly serverCpu: number | undefined;
  /** Resident memory, in MiB. */
  readonly memory: { readonly before: number; readonly highest: number; readonly after: number };
  /** Probes of /health/ready during the overload, each on a new connection. */
  readonly probes: { readonly made: number; readonly answered: number; readonly slowestMs: number };
}

/** Overload as a multiple of the peak. */
const FACTOR = 10;
/** Sufficient for half the peak, and far below any limit. */
const CALM_CONNECTIONS = 400;
const PROBE_MS = 250;
const PROBE_LIMIT_MS = 5000;

/** Measures the peak of a server, then sends ten times the peak at a fixed rate, then half the peak. */
export async function runOverload(
  sandbox: Sandbox,
  cores: Cores,
  main: string,
  scenario: Scenario,
  plan: OverloadPlan,
): Promise<OverloadResult> {
  const { name, path, peakConnections, manyConnections, env } = scenario;
  const command = cores.server([process.execPath, main]);
  const server = await ServerProcess.start(sandbox, { command, readyPath: '/health/ready', env });
  const { port } = server;
  const saturation = [plan.warmUpSeconds, plan.peakSeconds].map((seconds) => ({
    connections: peakConnections,
    perSecond: undefined,
    seconds,
  }));
  const [, found] = await runPhases(sandbox, cores, { port, path, phases: saturation });
  const peak = (found?.ok ?? 0) / plan.peakSeconds;
  const before = server.residentMiB() ?? NaN;

  const cpuBefore = server.cpuSeconds();
  const begunAt = performance.now();
  const watch = watchServer(server);
  const [overload, after] = await runPhases(sandbox, cores, {
    port,
    path,
    phases: [
      { connections: manyConnections, perSecond: FACTOR * peak, seconds: plan.overloadSeconds },
      { connections: Math.min(manyConnections, CALM_CONNECTIONS), perSecond: peak / 2, seconds: plan.afterSeconds },
    ],
  });
  const { highest, probes } = await watch.end();
  const cpu = (server.cpuSeconds() ?? NaN) - (cpuBefore ?? NaN);
  const serverCpu = (cpu * 1000) / (performance.now() - begunAt);
  server.assertAlive();
  const memory = { before, highest, after: server.residentMiB() ?? NaN };
  await server.stop();
  return {
    name,
    path,
    connections: manyConnections,
    peak,
    overload: overload!,
    after: after!,
    serverCpu,
    memory,
    probes,
  };
}

interface Watch {
  end(): Promise<Pick<OverloadResult, 'probes'> & { readonly highest: number }>;
}

function watchServer(server: ServerProcess): Watch {
  let watching = true;
  const probes = { made: 0, answered: 0, slowestMs: 0 };
  let highest = 0;
  const loop = async (): Promise<void> => {
    while (watching) {
      highest = Math.max(highest, server.residentMiB() ?? NaN);
      const begunAt = performance.now();
      probes.made++;
      const status = await request(server.port, '/health/ready', PROBE_LIMIT_MS).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) probes.answered++;
      probes.slowestMs = Math.max(probes.slowestMs, performance.now() - begunAt);
      await sleep(PROBE_MS);
    }
  };
  const running = loop();
  return {
    end: async () => {
      watching = false;
      await running;
      return { highest, probes };
    },
  };
}
