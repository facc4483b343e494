import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port';
import type { Cores } from '../http/cores';
import type { Sandbox } from '../http/sandbox';

const START_LIMIT_MS = 10_000;
const POLL_MS = 20;
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

/** INCRs per second of any server of the Redis protocol. */
export async function incrRate(
  { sandbox, cores }: { readonly sandbox: Sandbox; readonly cores: Cores },
  { port, tag, connections, pipeline, requests }: IncrLoad,
): Promise<number> {
  const load = ['-c', String(connections), '-P', String(pipeline), '-n', String(requests)];
  const command = ['redis-benchmark', '-p', String(port), ...load, '--csv', 'INCR', tag];
  const report = await sandbox.run(cores.generator(command), RUN_LIMIT_MS);
  const rate = new RegExp(`^"INCR ${tag}","([\\d.]+)"`, 'm').exec(report)?.[1];
  if (rate === undefined) throw new Error(`The report of redis-benchmark has no rate:\n${report}`);
  return Number(rate);
}

/** Redis with appendfsync always: INCR returns after the write is on disk, like a database commit. */
export class Redis {
  private constructor(
    private readonly port: number,
    private readonly child: ChildProcess,
    readonly sandbox: Sandbox,
    readonly cores: Cores,
  ) {}

  /** Undefined if Redis is not installed. To install: `apt-get install redis-server`. */
  static async start(sandbox: Sandbox, cores: Cores): Promise<Redis | undefined> {
    if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
    const port = await freePort();
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', sandbox.folder(), '--save', ''];
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
    const child = sandbox.spawn(cores.server(['redis-server', ...settings, ...durable]), { stdio: 'ignore' });
    const startedAt = performance.now();
    while (!(await answers(port))) {
      if (performance.now() - startedAt > START_LIMIT_MS) throw new Error('redis-server failed to start');
      await sleep(POLL_MS);
    }
    return new Redis(port, child, sandbox, cores);
  }

  /** INCRs per second. */
  rate(connections: number, pipeline: number, requests: number): Promise<number> {
    return incrRate(this, { port: this.port, tag: 'order', connections, pipeline, requests });
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  get version(): string {
    return /v=(\S+)/.exec(spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout)?.[1] ?? '';
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
