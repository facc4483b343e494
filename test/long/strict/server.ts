import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { makeDataDirectory, removeDataDirectory } from '../../support/data-directory';
import { freePort } from '../../support/free-port';
import { call } from '../../support/http';
import { guarded } from '../../support/private-server';
import { until } from '../../support/until';

/** On a machine with many others at once. */
const START_LIMIT_MS = 180_000;

/** A built server, always on the same port, that can be killed and started again. */
export class StrictServer {
  private child: ChildProcess | undefined;
  private log = '';

  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly file: string,
    private readonly databaseUrl: string,
  ) {}

  static async start(file: string, databaseUrl: string): Promise<StrictServer> {
    const server = new StrictServer(await freePort(), await makeDataDirectory(), file, databaseUrl);
    await server.launch();
    return server;
  }

  /** `kill -9`, and a new process. */
  async restart(): Promise<void> {
    await this.kill();
    await this.launch();
  }

  async stop(): Promise<void> {
    await this.kill();
    await removeDataDirectory(this.directory);
  }

  private async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  private async launch(): Promise<void> {
    const [program = '', ...words] = await guarded([process.execPath, this.file]);
    const child = spawn(program, words, {
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        LEAF_PORT: String(this.port),
        LEAF_HOST: '127.0.0.1',
        LEAF_DATA_DIR: this.directory,
        LEAF_DATABASE_URL: this.databaseUrl,
        LEAF_SNOWFLAKE_ENABLED: 'false',
        // On a machine that does much else, a late turn is no overload.
        LEAF_MAX_LAG_MS: '60000',
      },
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part: Buffer) => (this.log = (this.log + part.toString()).slice(-4000)));
    }
    await until(
      `start of the server on ${this.port}`,
      async () => {
        if (child.exitCode !== null) throw new Error(`The server ended:\n${this.log}`);
        return call(this.port, '/health/live').then(
          ({ status }) => status === 200,
          () => false,
        );
      },
      START_LIMIT_MS,
    );
  }
}
