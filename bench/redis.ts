import { spawnSync } from 'node:child_process';
import type { Cores } from './http/cores';
import { cpuSecondsOf } from './http/processor-time';
import type { Rig } from './http/route';
import { freePort, type Sandbox, untilReady } from './http/sandbox';
import type { Row } from './rows';
import { reach } from './services';

const RUN_LIMIT_MS = 120_000;
/** Of each command in a pipeline, until the first run has measured it. */
const FIRST_RATE = 20_000;

/** Runs of redis-benchmark. */
export interface IncrLoad {
  readonly port: number;
  readonly tag: string;
  readonly connections: number;
  /** Commands of a connection that are sent before their replies. */
  readonly pipeline?: number;
}

/** INCRs on any server of the Redis protocol, as many as the rate of the run before allows in the time. */
export function overRedis(
  { sandbox, cores }: Pick<Rig, 'sandbox' | 'cores'>,
  { port, tag, connections, pipeline = 1 }: IncrLoad,
): Row['run'] {
  let rate = FIRST_RATE * pipeline;
  return async (seconds) => {
    const ids = Math.round(rate * seconds);
    const load = ['-c', String(connections), '-P', String(pipeline), '-n', String(ids)];
    const command = ['redis-benchmark', '-p', String(port), ...load, '--csv', 'INCR', tag];
    const report = await sandbox.run(cores.generator(command), RUN_LIMIT_MS);
    const line = new RegExp(`^"INCR ${tag}",.*`, 'm').exec(report)?.[0];
    if (line === undefined) throw new Error(`The report of redis-benchmark has no rate:\n${report}`);
    const [, perSecond, , , p50Ms, , p99Ms] = (JSON.parse(`[${line}]`) as string[]).map(Number);
    rate = perSecond!;
    return { ids, seconds: ids / rate, p50Ms, p99Ms };
  };
}

/**
 * Starts Redis with appendfsync always: INCR returns after the write is on disk, like a database commit. Undefined if it
 * is not installed. To install: `apt-get install redis-server`.
 */
export async function startRedis(
  sandbox: Sandbox,
  cores: Cores,
): Promise<{ readonly port: number; readonly version: string; cpuSeconds(): number | undefined } | undefined> {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', sandbox.folder(), '--save', ''];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const { pid = 0 } = sandbox.spawn(cores.server(['redis-server', ...settings, ...durable]), { stdio: 'ignore' });
  await untilReady('redis-server', () => reach(port));
  return { port, version: /v=(\S+)/.exec(stdout)?.[1] ?? '', cpuSeconds: () => cpuSecondsOf(pid) };
}
