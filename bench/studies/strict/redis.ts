import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../test/support/free-port';
import type { Cores } from '../../http/cores';
import type { Sandbox } from '../../http/sandbox';

const START_LIMIT_MS = 10_000;
const POLL_MS = 20;

/** Redis with appendfsync always: INCR returns after the write is on disk, like a database commit. */
export class Redis {
  private constructor(
    private readonly port: number,
    private readonly sandbox: Sandbox,
    private readonly cores: Cores,
  ) {}

  /** Undefined if Redis is not installed. To install: `apt-get install redis-server`. */
  static async start(sandbox: Sandbox, cores: Cores): Promise<Redis | undefined> {
    if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
    const port = await freePort();
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', sandbox.folder(), '--save', ''];
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
    sandbox.spawn(cores.server(['redis-server', ...settings, ...durable]), { stdio: 'ignore' });
    const startedAt = performance.now();
    while (!(await answers(port))) {
      if (performance.now() - startedAt > START_LIMIT_MS) throw new Error('redis-server failed to start');
      await sleep(POLL_MS);
    }
    return new Redis(port, sandbox, cores);
  }

  /** INCRs per second. */
  async rate(connections: number, pipeline: number, requests: number): Promise<number> {
    const load = ['-c', String(connections), '-P', String(pipeline), '-n', String(requests)];
    const command = ['redis-benchmark', '-p', String(this.port), ...load, '--csv', 'INCR', 'order'];
    const report = await this.sandbox.run(this.cores.generator(command), 120_000);
    const rate = /^"INCR order","([\d.]+)"/m.exec(report)?.[1];
    if (rate === undefined) throw new Error(`The report of redis-benchmark has no rate:\n${report}`);
    return Number(rate);
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
