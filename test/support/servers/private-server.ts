import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freePort } from '../free-port';
import { exists, run, servicesDirectory, withLock } from './services';
import { requireTool } from '../tools';
import { until } from '../until';

const READY_LIMIT_MS = 120_000;
const PORT_ATTEMPTS = 3;
const LOG_TAIL = 4000;

const alive = new Set<PrivateServer>();

function endAll(): void {
  for (const server of alive) server.endNow();
}

/** A database server for one test, with its own process, port and data directory. */
export abstract class PrivateServer {
  port = 0;
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();

  /** `directory` has the data in `data`; the log and the rest lie beside it. */
  protected constructor(protected readonly directory: string) {}

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  protected get dataDirectory(): string {
    return join(this.directory, 'data');
  }

  /** Creates an empty database and gives its URL. */
  abstract createDatabase(): Promise<string>;

  /** The program and its arguments; `port` is known. */
  protected abstract command(): string[];

  /** The data directory of the server that answers on the port; throws when none does. */
  protected abstract askDataDirectory(): Promise<string>;

  /** For files that have to know the port; runs before each launch. */
  protected async configure(): Promise<void> {}

  /** For what a killed server leaves behind outside of its directory. */
  protected async cleanUp(): Promise<void> {}

  /** On a free port, or on `port`, when others have been told of it already. */
  async start(port?: number): Promise<void> {
    if (alive.size === 0) process.on('exit', endAll);
    alive.add(this);
    for (let attempt = 1; ; attempt++) {
      this.port = port ?? (await freePort());
      try {
        await this.launch();
        return;
      } catch (error) {
        if (port === undefined && attempt < PORT_ATTEMPTS && String(error).includes('Address already in use')) continue;
        await this.stop();
        throw error;
      }
    }
  }

  /** SIGKILL for the server and all its processes; resolves when they are gone. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    // Stopped, it cannot fork one more.
    child.kill('SIGSTOP');
    const workers = await this.workers();
    child.kill('SIGKILL');
    for (const pid of workers) signal(pid, 'SIGKILL');
    child.ref();
    await this.ended;
    for (const pid of workers) await until(`end of process ${pid}`, async () => (await stateOf(pid)) === 'Z');
    this.child = undefined;
  }

  /** Starts it again, on the same data and the same port; kills it first if it still runs. */
  async restart(): Promise<void> {
    await this.kill();
    await this.launch();
  }

  /** Suspends the server; its connections stay open. */
  async suspend(): Promise<void> {
    this.child?.kill('SIGSTOP');
    const workers = await this.workers();
    for (const pid of workers) signal(pid, 'SIGSTOP');
    for (const pid of [this.pid, ...workers]) {
      await until(`stop of process ${pid}`, async () => 'TZ'.includes(await stateOf(pid)));
    }
  }

  async resume(): Promise<void> {
    for (const pid of await this.workers()) signal(pid, 'SIGCONT');
    this.child?.kill('SIGCONT');
  }

  /** Stops the server in any state and removes its data. */
  async stop(): Promise<void> {
    await this.kill();
    await this.cleanUp();
    await rm(this.directory, { recursive: true, force: true });
    alive.delete(this);
    if (alive.size === 0) process.off('exit', endAll);
  }

  /** For the exit of this process. */
  endNow(): void {
    this.child?.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }

  private async launch(): Promise<void> {
    await this.configure();
    const log = await open(join(this.directory, 'log'), 'w');
    const [program = '', ...words] = this.command();
    const child = spawn(program, words, {
      cwd: this.directory,
      stdio: ['ignore', log.fd, log.fd],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    });
    await log.close();
    let failure: string | undefined;
    this.ended = new Promise((resolve) => {
      child.on('error', (error) => {
        failure = String(error);
        resolve();
      });
      child.on('exit', (code, signalName) => {
        failure = `it ended with ${signalName ?? `code ${code}`}`;
        resolve();
      });
    });
    child.unref();
    this.child = child;
    let last: unknown;
    try {
      await until(
        `answer of ${program}`,
        async () => {
          if (failure !== undefined) throw new Error(failure);
          const answer = await this.askDataDirectory().catch((error: unknown) => void (last = error));
          return answer?.replace(/\/$/, '') === this.dataDirectory;
        },
        READY_LIMIT_MS,
      );
    } catch (error) {
      await this.kill();
      const text = await readFile(join(this.directory, 'log'), 'utf8');
      throw new Error(
        `The server did not start: ${String(error)}; last answer: ${String(last)}\n` +
          `${words.join(' ')}\n${text.slice(-LOG_TAIL)}`,
        { cause: error },
      );
    }
  }

  /** PostgreSQL has a process for each connection, each in a process group of its own. */
  private async workers(): Promise<number[]> {
    if (this.pid === 0) return [];
    const children = await readFile(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').catch(() => '');
    return children.split(' ').filter(Boolean).map(Number);
  }
}

/**
 * The command line that runs `words` as `account` when we are root, and that the kernel kills when this process ends,
 * however it ends. The pid stays the one of the spawned process.
 */
export async function guarded(words: readonly string[], account?: string): Promise<string[]> {
  if (process.platform !== 'linux') return [...words];
  const setpriv = await requireTool('setpriv');
  const identity = ['--reuid', account ?? '', '--regid', account ?? '', '--init-groups'];
  return [setpriv, ...(account !== undefined && isRoot() ? identity : []), '--pdeathsig', 'KILL', ...words];
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** A fresh server directory whose `data` is a copy of the template `name`, which `build` makes once on a machine. */
export async function copyOfTemplate(
  name: string,
  account: string | undefined,
  build: (data: string) => Promise<unknown>,
): Promise<string> {
  const root = await servicesDirectory();
  const template = join(root, name);
  if (!(await exists(template))) {
    await withLock(name, async () => {
      if (await exists(template)) return;
      const draft = await makeDirectory(join(root, `draft-${process.pid}-`), account);
      try {
        await build(join(draft, 'data'));
        await rename(draft, template);
      } finally {
        await rm(draft, { recursive: true, force: true });
      }
    });
  }
  return serverDirectory(account, (data) => run('cp', ['-a', join(template, 'data'), dirname(data)]));
}

/** A fresh server directory; `fill` makes its `data`. */
export async function serverDirectory(
  account: string | undefined,
  fill: (data: string) => Promise<unknown>,
): Promise<string> {
  const root = await servicesDirectory();
  await removeLeftBehind(root);
  const directory = await makeDirectory(join(root, `run-${process.pid}-`), account);
  await fill(join(directory, 'data'));
  await mkdir(join(directory, 'tmp'), { recursive: true });
  return directory;
}

async function makeDirectory(prefix: string, account: string | undefined): Promise<string> {
  const directory = await mkdtemp(prefix);
  if (account !== undefined && isRoot()) await run('chown', [account, directory]);
  return directory;
}

/** Jest does not run exit handlers: the kernel ends the servers of a process that ended, their files remain. */
async function removeLeftBehind(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = /^(?:run|draft)-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || signal(Number(pid), 0)) continue;
    const directory = join(root, name);
    for (const worker of await processesIn(directory)) signal(worker, 'SIGKILL');
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What was suspended does not notice that its parent has ended. Servers work inside of their data directory. */
async function processesIn(directory: string): Promise<number[]> {
  const pids: number[] = [];
  for (const name of await readdir('/proc').catch((): string[] => [])) {
    if (!/^\d+$/.test(name)) continue;
    const path = await readlink(`/proc/${name}/cwd`).catch(() => '');
    if (path.startsWith(`${directory}/`)) pids.push(Number(name));
  }
  return pids;
}

/** Whether there is such a process; signal 0 only asks. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** The letter of `ps`: T is stopped, Z has ended; also Z when there is none. */
async function stateOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /\) (\S)/.exec(text)?.[1] ?? 'Z';
}
