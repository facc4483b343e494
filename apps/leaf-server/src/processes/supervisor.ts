import type { Clock, RandomSource } from '@leaf-ids/core';
import { backoffMs, withinDeadline } from '@leaf-ids/core/internal';
import { Child, type Exit, type Fork } from './child';
import { Relay } from './relay';

/** How often a process is pinged, in milliseconds. */
const EVERY_MS = 5000;
/** A process that misses this many pings in a row hangs. */
const MAX_MISSED = 6;

/** Time without an answer after which a process counts as hanging, in milliseconds. */
const HANG_MS = EVERY_MS * MAX_MISSED;

/**
 * Pings a process from its start until it ends. Missed answers are counted in place of time: after the whole machine was
 * suspended, the answers have not been read yet, and no process is to blame.
 *
 * @returns whether it hangs; false when it has ended, or `signal` was aborted
 */
async function hangs(child: Child, clock: Clock, signal: AbortSignal): Promise<boolean> {
  for (let missed = 0; missed < MAX_MISSED; missed++) {
    const answered = child.answers;
    child.send({ kind: 'ping' });
    await clock.sleep(EVERY_MS, signal);
    if (child.ended || signal.aborted) return false;
    if (child.answers > answered) missed = -1;
  }
  return true;
}

/** Before a process that has ended is replaced; longer each time it happens again. */
const PAUSE = { firstMs: 100, maxMs: 5000 };
/** Listening time after which a crash does not count as repeated, in milliseconds. */
const STEADY_MS = 60_000;

interface SupervisorOptions {
  readonly processes: number;
  /** A stop that takes longer is ended by force, in milliseconds. */
  readonly stopLimitMs: number;
}

export interface ServerEnd {
  /** Exit code of the whole server. */
  readonly code: number;
  /** Why it never started. */
  readonly fault: string | undefined;
}

/** The log of the supervisor. */
interface SupervisorLog {
  log(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/**
 * Keeps the processes of a server running.
 *
 * Start: the first one prepares all alone, so that a fault of the configuration or the database is told once and the
 * tables are made by one; then the others do. When all are prepared they listen: whoever gets an answer finds the whole
 * server. One that ends before that ends the start.
 *
 * Then a process that ends is replaced, after a pause that grows, and takes its number. The others serve meanwhile. One
 * that hangs is killed: its worker ID and its ranges are as safe as those of any process that ends.
 *
 * Stop: all are asked to, and all ends when the last one has.
 */
export class Supervisor {
  private readonly children: (Child | undefined)[];
  private readonly relay: Relay;
  private readonly stopping = new AbortController();
  private stopped: Promise<boolean> | undefined;
  /** All have listened once. */
  private started = false;

  constructor(
    private readonly options: SupervisorOptions,
    private readonly fork: Fork,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly log: SupervisorLog,
  ) {
    this.children = Array.from({ length: options.processes }, () => undefined);
    const memberOf = (process: number): Child | undefined => {
      const child = this.children[process];
      return child?.member === true ? child : undefined;
    };
    this.relay = new Relay(options.processes, memberOf, clock);
  }

  /** Resolves when the server has ended. */
  async run(): Promise<ServerEnd> {
    const failed = await this.start();
    if (failed !== undefined && !this.isStopping()) {
      const exit = await failed.exited;
      await this.stop({ drain: false });
      return {
        code: exit.code || 1,
        fault: failed.failure ?? `It ended before it was ready: ${describe(failed, exit)}`,
      };
    }
    await Promise.all(this.children.flatMap((child) => (child === undefined ? [] : [this.keep(child)])));
    return { code: (await this.stopped) === false ? 1 : 0, fault: undefined };
  }

  /** Resolves when all have ended: with false when force was needed. Later calls join the first. */
  stop({ drain }: { readonly drain: boolean }): Promise<boolean> {
    this.stopped ??= this.end(drain);
    return this.stopped;
  }

  /** Kills all processes at once. */
  kill(): void {
    for (const child of this.children) child?.kill();
  }

  /** Whether any process listens. */
  private get isServing(): boolean {
    return this.children.some((child) => child?.serving === true);
  }

  /** Lets a process listen if no other one does: a refusal is better than no answer. */
  private letListen(): void {
    for (const child of this.children) if (child?.member === true) child.send({ kind: 'listen', whenReady: false });
  }

  private isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** @returns the process that ended before all could listen; undefined when all do */
  private async start(): Promise<Child | undefined> {
    const all = this.children.map((_, process) => process);
    const [first, ...others] = all;
    const started: Child[] = [];
    for (const some of [[first as number], others]) {
      if (this.isStopping()) return undefined;
      const children = some.map((process) => this.launch(process));
      started.push(...children);
      const failed = await firstFailed(children.map((child) => [child, child.prepared]));
      if (failed !== undefined) return failed;
    }
    for (const child of started) child.send({ kind: 'listen', whenReady: false });
    const failed = await firstFailed(started.map((child) => [child, child.listening]));
    if (failed !== undefined) return failed;
    this.started = true;
    const place = await started[0]?.listening;
    this.log.log(
      `Listening on ${place ?? ''} · ${started.length} processes: ${started.map(({ pid }) => pid).join(', ')}`,
    );
    return undefined;
  }

  private launch(process: number): Child {
    const child = new Child(process, this.fork, {
      onReport: (from, report) => {
        if (report.kind === 'ask') void this.relay.ask(from, report);
        else if (report.kind === 'answer' || report.kind === 'no answer') this.relay.answer(from, report);
      },
      onExit: (ended) => {
        this.relay.gone(ended);
        if (this.started && !this.isServing) this.letListen();
      },
    });
    this.children[process] = child;
    void this.killIfItHangs(child);
    return child;
  }

  private async killIfItHangs(child: Child): Promise<void> {
    if (!(await hangs(child, this.clock, this.stopping.signal))) return;
    this.log.error(`Process ${child.process} (${child.pid}) has not answered for ${HANG_MS} ms: it is killed.`);
    child.kill();
  }

  /** Replaces the process, and each replacement, until the server stops. */
  private async keep(first: Child): Promise<void> {
    let child = first;
    for (let failures = 0; ;) {
      const steadyAt = child.listening.then((place) =>
        place === undefined ? Infinity : this.clock.monotonic() + STEADY_MS,
      );
      const exit = await child.exited;
      if (this.isStopping()) return;
      failures = this.clock.monotonic() >= (await steadyAt) ? 1 : failures + 1;
      const waitMs = backoffMs(failures, PAUSE, this.random);
      this.log.warn(`${describe(child, exit)} A new process replaces it in ${waitMs} ms.`);
      await this.clock.sleep(waitMs, this.stopping.signal);
      if (this.isStopping()) return;
      child = this.launch(child.process);
      void this.welcome(child);
    }
  }

  /** While others serve, it takes no connection before it can: its worker ID may have to wait for reserved time. */
  private async welcome(child: Child): Promise<void> {
    if (!(await child.prepared)) return;
    child.send({ kind: 'listen', whenReady: this.isServing });
    if ((await child.listening) !== undefined) {
      this.log.log(`Process ${child.process} is back, as ${child.pid}.`);
    }
  }

  private async end(drain: boolean): Promise<boolean> {
    this.stopping.abort();
    const running = this.children.flatMap((child) => (child === undefined || child.ended ? [] : [child]));
    for (const child of running) child.send({ kind: 'stop', drain });
    const ended = Promise.all(running.map(({ exited }) => exited));
    const { stopLimitMs } = this.options;
    if (!(await withinDeadline(ended, this.clock.monotonic() + stopLimitMs, this.clock))) {
      this.log.error(`Not all processes have ended in ${stopLimitMs} ms: they are killed.`);
      this.kill();
      await ended;
      return false;
    }
    return (await ended).every(({ code }) => code === 0);
  }
}

/** The first whose promise comes with nothing; undefined when none does. */
async function firstFailed(steps: readonly (readonly [Child, Promise<unknown>])[]): Promise<Child | undefined> {
  const succeeded = Promise.all(
    steps.map(async ([child, step]) => {
      const value = await step;
      if (value === false || value === undefined) throw new StartFailed(child);
    }),
  );
  try {
    await succeeded;
    return undefined;
  } catch (error) {
    if (error instanceof StartFailed) return error.child;
    throw error;
  }
}

class StartFailed extends Error {
  constructor(readonly child: Child) {
    super();
  }
}

function describe({ process, pid, failure }: Child, { code, signal }: Exit): string {
  const how = code === null ? `was ended by ${signal ?? 'a signal'}.` : `ended with code ${code}.`;
  return `Process ${process} (${pid}) ${how}${failure === undefined ? '' : ` ${failure}`}`;
}
