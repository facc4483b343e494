import type { ChildProcess } from 'node:child_process';
import { makeDataDirectory, removeDataDirectory } from './data-directory';
import { SERVER_FILE } from '../build';
import { launch, serverEnv } from './launch';
import { until } from '../until';

/** For a start and for an end, on a machine with many of them at once. */
const LIMIT_MS = 60_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The built server as a child process, run by plain Node from another directory. */
export class BuiltServer {
  stdout = '';
  private errors = '';
  private readonly end: Promise<void>;
  private ended: Exit | undefined;

  constructor(
    readonly directory: string,
    private readonly child: ChildProcess,
  ) {
    child.stdout?.on('data', (part: Buffer) => (this.stdout += part.toString()));
    child.stderr?.on('data', (part: Buffer) => (this.errors += part.toString()));
    this.end = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        this.ended = { code, signal };
        resolve();
      });
    });
  }

  /** Standard error; a start fault in JSON as the text that a terminal shows. */
  get stderr(): string {
    return this.errors.replaceAll(/^\{"level":"fatal".*\}$/gm, (line) => {
      const { message, details = [] } = JSON.parse(line) as { message: string; details?: string[] };
      return [message, ...details.map((detail) => `  - ${detail}`)].join('\n');
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get running(): boolean {
    return this.ended === undefined;
  }

  /** Where it listens; known once it does. */
  get port(): number {
    const port = this.announcedPort();
    if (port === undefined) throw new Error(`It does not listen:\n${this.stdout}${this.stderr}`);
    return port;
  }

  /** Resolves with the port; throws when the process ends instead. */
  async listening(): Promise<number> {
    const look = (): number | undefined => {
      const port = this.announcedPort();
      if (port === undefined && !this.running) throw new Error(`The start failed:\n${this.stdout}${this.stderr}`);
      return port;
    };
    return until('start line', look, LIMIT_MS);
  }

  /** Resolves when the process has ended by itself and all that it wrote has been read. */
  async exit(): Promise<Exit> {
    return until('end of the process', () => this.ended, LIMIT_MS);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.end;
  }

  private announcedPort(): number | undefined {
    const match = /Listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(this.stdout);
    return match === null ? undefined : Number(match[1]);
  }
}

/** The processes and directories of one test file. `end` removes all of them, even after failures. */
export class BuiltServers {
  private readonly servers: BuiltServer[] = [];
  private readonly directories: string[] = [];

  constructor(private readonly program: readonly string[] = [process.execPath, SERVER_FILE]) {}

  async makeDirectory(): Promise<string> {
    const directory = await makeDataDirectory();
    this.directories.push(directory);
    return directory;
  }

  /** Starts the process and does not wait for it. */
  spawn(directory: string, env: NodeJS.ProcessEnv = {}, args: readonly string[] = []): BuiltServer {
    // A short pause of the machine must not count as an outage.
    const settings = { ...serverEnv(directory), LEAF_SEGMENT_WAIT_MS: '10000', ...env };
    const child = launch({ command: [...this.program, ...args], env: settings });
    const server = new BuiltServer(directory, child);
    this.servers.push(server);
    return server;
  }

  /** Starts it and waits until it listens. */
  async start(directory: string, env: NodeJS.ProcessEnv = {}): Promise<BuiltServer> {
    const server = this.spawn(directory, env);
    await server.listening();
    return server;
  }

  async end(): Promise<void> {
    await Promise.all(this.servers.splice(0).map((server) => server.kill()));
    await Promise.all(this.directories.splice(0).map(removeDataDirectory));
  }
}
