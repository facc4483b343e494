import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Run } from './checker';

export interface Answer {
  readonly code?: string;
  readonly message?: string;
  readonly count?: number;
  readonly runs?: readonly Run[];
  readonly refused?: Readonly<Record<string, number>>;
}

/** A process of a client that obeys the commands of test/conformance/README.md. */
export class Driver {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (answer: Answer | undefined) => void>();
  private readonly closed: Promise<unknown>;
  private commands = 0;
  /** Milliseconds by which its wall clock was moved. */
  private steppedMs = 0;

  /**
   * @param command program and arguments; the options follow them
   * @param steps directory for step logs, for clients that write them
   */
  constructor(command: readonly string[], options: object, steps: string) {
    const [program = '', ...words] = command;
    this.child = spawn(program, [...words, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, LEAF_STEP_LOG: steps },
    });
    this.child.on('error', () => undefined);
    this.child.stdin?.on('error', () => undefined);
    this.closed = once(this.child, 'close').catch(() => undefined);
    void this.closed.then(() => this.forget());
    if (this.child.stdout === null) return;
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer & { id: number };
      this.waiting.get(answer.id)?.(answer);
      this.waiting.delete(answer.id);
    });
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The answer to a command; undefined if the process ends without one. */
  ask(command: object): Promise<Answer | undefined> {
    if (!this.running) return Promise.resolve(undefined);
    const id = ++this.commands;
    this.child.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  /** Sets its wall clock `ms` off the true time. */
  async stepTo(ms: number): Promise<void> {
    const by = ms - this.steppedMs;
    this.steppedMs = ms;
    await this.ask({ op: 'step', ms: by });
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Closes the client: it releases its worker ID. */
  async close(): Promise<void> {
    this.signal('SIGCONT');
    await this.ask({ op: 'close' });
    await this.closed;
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.closed;
  }

  private forget(): void {
    for (const resolve of this.waiting.values()) resolve(undefined);
    this.waiting.clear();
  }
}
