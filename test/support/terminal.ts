import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './exclusively';
import { outsideEnvironment } from './packages';
import { until } from './until';

/** npm may have to fetch packages, on a busy machine. */
const LIMIT_MS = 600_000;
/** What a terminal has that pages do not show: jobs, and no progress bars. */
const SETTINGS = `set -em
curl() { command curl -sS "$@"; }
`;

/** A new folder that looks like a clone of this repository after `npm ci && npm run build`. */
export async function makeClone(): Promise<string> {
  const clone = await mkdtemp(join(tmpdir(), 'leaf-clone-'));
  await cp(join(ROOT, 'package.json'), join(clone, 'package.json'));
  for (const name of ['dist', 'scripts', 'node_modules']) await symlink(join(ROOT, name), join(clone, name));
  return clone;
}

export interface Step {
  readonly command: string;
  /** The output that the comment behind or below the command shows. */
  readonly shown: string | undefined;
}

/** The commands of a block. */
export function stepsOf(block: string): Step[] {
  const command = /^((?!#)\S(?:.*\\\n)*.*?)(?: +# (.*))?$(?:\n# (.*)$)?/gm;
  return [...block.matchAll(command)].map(([, text = '', behind, below]) => ({
    command: text,
    shown: below ?? behind,
  }));
}

/** A shell that runs the commands of a page block by block, as a reader types them: exports and jobs last. */
export class Terminal {
  private readonly shell: ChildProcess;
  private readonly ended: Promise<unknown>;
  private marks = '';
  private count = 0;

  private constructor(
    private readonly logs: string,
    cwd: string,
    env: NodeJS.ProcessEnv,
  ) {
    // In the place of options, which the commands of a page do not have.
    const npm = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true' };
    this.shell = spawn('bash', ['--norc'], { cwd, env: { ...outsideEnvironment(), ...npm, ...env } });
    this.shell.stdout!.on('data', (part: Buffer) => (this.marks += part.toString()));
    this.ended = once(this.shell, 'close');
    this.shell.stdin!.write(SETTINGS);
  }

  /** @param cwd the folder in which the reader is */
  static async open(cwd: string, env: NodeJS.ProcessEnv = {}): Promise<Terminal> {
    return new Terminal(await mkdtemp(join(tmpdir(), 'leaf-terminal-')), cwd, env);
  }

  /** Runs commands; resolves with what they wrote, and throws when one of them fails. */
  async run(commands: string): Promise<string> {
    const name = join(this.logs, String(++this.count));
    await writeFile(`${name}.sh`, commands);
    this.shell.stdin!.write(`source ${name}.sh >${name}.log 2>&1 </dev/null\necho ran ${this.count}.\n`);
    const mark = `ran ${this.count}.\n`;
    const ran = until(`end of ${commands}`, () => this.marks.includes(mark), LIMIT_MS);
    await Promise.race([ran, this.ended.then(() => Promise.reject(new Error(`Failed: ${commands}`)))]).catch(
      async (error: unknown) => {
        throw new Error(`${String(error)}\n${await this.output()}`, { cause: error });
      },
    );
    return readFile(`${name}.log`, 'utf8');
  }

  /** Waits until a job or command has written `text`. */
  async shows(text: string): Promise<void> {
    await until(text, async () => (await this.output()).includes(text)).catch(async (error: unknown) => {
      throw new Error(await this.output(), { cause: error });
    });
  }

  /** All that was written so far. */
  async output(): Promise<string> {
    const names = Array.from({ length: this.count }, (_, index) => join(this.logs, `${index + 1}.log`));
    return (await Promise.all(names.map((name) => readFile(name, 'utf8').catch(() => '')))).join('');
  }

  /** Ends the shell and its jobs. */
  async close(): Promise<void> {
    this.shell.stdin!.end('set +e; for job in $(jobs -p); do kill -KILL -- -$job; done; exit\n');
    await this.ended;
    await rm(this.logs, { recursive: true });
  }
}
