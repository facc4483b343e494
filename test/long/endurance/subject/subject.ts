import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { launch } from '../../../support/servers/launch';
import { guarded } from '../../../support/servers/private-server';
import { until } from '../../../support/until';
import type { Sample } from './sample';

const PAGE_BYTES = 4096;
const PROBE = 'test/long/endurance/subject/probe.cjs';

export interface SubjectOptions {
  readonly name: string;
  /** The program and its arguments, without `node`. */
  readonly program: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** For its log and its samples. */
  readonly folder: string;
}

/** A process whose memory and handles are looked at, from the inside by a probe that is loaded ahead of its program. */
export class Subject {
  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    private readonly sampleFile: string,
  ) {}

  /** Does not wait until it serves. @param root the checkout */
  static async start({ name, program, env, folder }: SubjectOptions, root: string): Promise<Subject> {
    const sampleFile = join(folder, `${name}.sample.json`);
    await rm(sampleFile, { force: true });
    const child = launch({
      command: await guarded([process.execPath, '--require', join(root, PROBE), ...program]),
      env: { LEAF_PROBE_FILE: sampleFile, ...env },
      logFile: join(folder, `${name}.log`),
      piped: true,
    });
    return new Subject(name, child, sampleFile);
  }

  /** What it writes. */
  get output(): NodeJS.ReadableStream {
    return this.child.stdout!;
  }

  /** What it reads. */
  get input(): NodeJS.WritableStream {
    return this.child.stdin!;
  }

  async sample(): Promise<Sample> {
    this.assertAlive();
    this.child.kill('SIGUSR2');
    const text = await until(`sample of ${this.name}`, () => readFile(this.sampleFile, 'utf8').catch(() => undefined));
    await rm(this.sampleFile);
    const own = JSON.parse(text) as Omit<Sample, 'children' | 'childDescriptors' | 'childResidentBytes'>;
    const children = await childrenOf(this.child.pid!);
    const childDescriptors = await sumOf(children, async (pid) => (await readdir(`/proc/${pid}/fd`)).length);
    const childResidentBytes = await sumOf(children, residentBytesOf);
    return { ...own, children: children.length, childDescriptors, childResidentBytes };
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  private assertAlive(): void {
    const { exitCode, signalCode } = this.child;
    if (exitCode === null && signalCode === null) return;
    throw new Error(
      `${this.name} ended with ${signalCode ?? `code ${exitCode}`}; see its log beside ${this.sampleFile}`,
    );
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

async function residentBytesOf(pid: number): Promise<number> {
  const pages = Number((await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')[1]);
  return pages * PAGE_BYTES;
}

async function sumOf(pids: readonly number[], read: (pid: number) => Promise<number>): Promise<number> {
  let sum = 0;
  for (const pid of pids) sum += await read(pid);
  return sum;
}
