import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { launch } from '../support/servers/launch';
import { guarded } from '../support/servers/private-server';
import { until } from '../support/until';
import { count, type Ledger } from './ledger';

const FILE = join(process.cwd(), 'test/versions/programs/caller.mjs');
const START_LIMIT_MS = 180_000;

type Line = readonly [kind: string, space?: string, firstOrCode?: string, size?: number, isLast?: boolean];

/** An application or a client: a process of one version that takes IDs by itself. */
export class Program {
  private up = false;
  private errors = '';
  private readonly closed: Promise<unknown>;

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    private readonly ledger: Ledger,
    private readonly caller: number,
  ) {
    this.closed = once(child, 'close');
    child.stderr?.on('data', (part: Buffer) => (this.errors += part.toString()));
    createInterface({ input: child.stdout! }).on('line', (line) => this.read(JSON.parse(line) as Line));
  }

  /** Resolves when it takes IDs. */
  static async start(
    { root, kind, options }: { readonly root: string; readonly kind: string; readonly options: object },
    ledger: Ledger,
    caller: number,
  ): Promise<Program> {
    const command = await guarded([process.execPath, FILE, root, kind, JSON.stringify(options)]);
    const program = new Program(kind, launch({ command, env: {} }), ledger, caller);
    const look = (): boolean => {
      if (program.ended) throw new Error(`The ${kind} of ${root} ended:\n${program.errors}`);
      return program.up;
    };
    await until(`the ${kind} of ${root}`, look, START_LIMIT_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${program.errors}`, { cause: error });
    });
    return program;
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal);
    await this.closed;
    if (signal === 'SIGTERM' && this.child.exitCode !== 0) {
      this.ledger.fault(`the ${this.name} ended with ${this.child.exitCode}: ${this.errors.slice(-1000)}`);
    }
  }

  private get ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  private read([kind, space = '', first = '', size = 0, isLast = false]: Line): void {
    const { ledger } = this;
    if (kind === 'up') this.up = true;
    if (kind === 'ids') ledger.add(space, this.caller, BigInt(first), size);
    if (kind === 'refused') count(ledger.refused, `${this.name}, ${space}: ${first}`);
    if (kind === 'refused' || isLast) ledger.calls++;
  }
}
