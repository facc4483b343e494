import { spawnSync } from 'node:child_process';
import type { Cores } from './http/cores';
import { freePort, type Sandbox, untilReady } from './http/sandbox';
import type { Issued } from './rows';
import { reach } from './services';

const RUN_LIMIT_MS = 120_000;

/** A run of redis-benchmark. */
export interface IncrLoad {
  readonly port: number;
  readonly tag: string;
  readonly connections: number;
  /** Commands of a connection that are sent before their replies. */
  readonly pipeline: number;
  readonly requests: number;
}

/** INCRs on any server of the Redis protocol. */
export async function runIncr(
  { sandbox, cores }: { readonly sandbox: Sandbox; readonly cores: Cores },
  { port, tag, connections, pipeline, requests }: IncrLoad,
): Promise<Issued> {
  const load = ['-c', String(connections), '-P', String(pipeline), '-n', String(requests)];
  const command = ['redis-benchmark', '-p', String(port), ...load, '--csv', 'INCR', tag];
  const report = await sandbox.run(cores.generator(command), RUN_LIMIT_MS);
  const rate = new RegExp(`^"INCR ${tag}","([\\d.]+)"`, 'm').exec(report)?.[1];
  if (rate === undefined) throw new Error(`The report of redis-benchmark has no rate:\n${report}`);
  return { ids: requests, seconds: requests / Number(rate) };
}

/**
 * Starts Redis with appendfsync always: INCR returns after the write is on disk, like a database commit. Undefined if it
 * is not installed. To install: `apt-get install redis-server`.
 */
export async function startRedis(
  sandbox: Sandbox,
  cores: Cores,
): Promise<{ readonly port: number; readonly version: string } | undefined> {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', sandbox.folder(), '--save', ''];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  sandbox.spawn(cores.server(['redis-server', ...settings, ...durable]), { stdio: 'ignore' });
  await untilReady('redis-server', () => reach(port));
  return { port, version: /v=(\S+)/.exec(stdout)?.[1] ?? '' };
}
