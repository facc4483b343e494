import type { ChildProcess } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../build';
import { freePort } from '../free-port';
import { call } from '../http/http';
import { requireTool } from '../tools';
import { until } from '../until';
import { makeDataDirectory, removeDataDirectory } from './data-directory';
import { launch } from './launch';
import { guarded } from './private-server';

interface Kind {
  readonly file: string;
  readonly command: (program: string, file: string, directory: string) => string[];
  /** What listens, in the file of `deploy/proxy`. */
  readonly listens: (port: string | number) => string;
}

const KINDS = {
  haproxy: {
    file: 'haproxy.cfg',
    command: (program, file) => [program, '-db', '-f', file],
    listens: (port) => `bind ${port === 8080 ? '' : '127.0.0.1'}:${port}`,
  },
  nginx: {
    file: 'nginx.conf',
    command: (program, file, directory) => {
      const globals = `daemon off; user root; pid ${directory}/pid; error_log stderr;`;
      return [program, '-c', file, '-p', directory, '-e', 'stderr', '-g', globals];
    },
    listens: (port) => `listen ${port === 8080 ? port : `127.0.0.1:${port}`};`,
  },
} satisfies Record<string, Kind>;

export type LoadBalancerKind = keyof typeof KINDS;

/** HAProxy or nginx with the configuration of `deploy/proxy`; only the addresses differ. */
export class LoadBalancer {
  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly child: ChildProcess,
  ) {}

  /**
   * Resolves when it listens, whether or not the servers do.
   *
   * @param servers at most as many as the configuration has
   * @param changes of the configuration: what stands there, and what takes its place
   */
  static async start(
    name: LoadBalancerKind,
    servers: readonly number[],
    changes: Readonly<Record<string, string>> = {},
  ): Promise<LoadBalancer> {
    const { file, command, listens }: Kind = KINDS[name];
    const port = await freePort();
    const directory = await makeDataDirectory();
    let text = replaced(await readFile(join(ROOT, 'deploy/proxy', file), 'utf8'), listens(8080), listens(port));
    for (const [index, server] of servers.entries()) {
      text = replaced(text, `leaf-${index + 1}:8080`, `127.0.0.1:${server}`);
    }
    text = text.replace(/^.*leaf-\d:8080.*\n/gm, '');
    for (const [part, by] of Object.entries(changes)) text = replaced(text, part, by);
    await mkdir(join(directory, 'logs'));
    await writeFile(join(directory, file), text);
    const program = await guarded(command(await requireTool(name), join(directory, file), directory));
    const child = launch({ command: program, env: {} });
    let output = '';
    child.stdout?.on('data', (part: Buffer) => (output += part.toString()));
    child.stderr?.on('data', (part: Buffer) => (output += part.toString()));
    const balancer = new LoadBalancer(port, directory, child);
    await until(`answer of ${name}`, async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}`);
      return call(port, '/health/live').then(
        () => true,
        () => false,
      );
    });
    return balancer;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    // nginx ends its workers on SIGTERM.
    this.child.kill('SIGTERM');
    if (this.child.exitCode === null && this.child.signalCode === null) await ended;
    await removeDataDirectory(this.directory);
  }
}

function replaced(text: string, part: string, by: string): string {
  if (!text.includes(part)) throw new Error(`The configuration has no "${part}"`);
  return text.replaceAll(part, by);
}
