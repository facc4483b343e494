import type { Member } from './relay';
import type { ProcessCommand, Report } from './messages';

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A running process, as the system gives it. */
export interface Forked {
  readonly pid: number;
  send(command: ProcessCommand): void;
  kill(): void;
}

export interface ForkEvents {
  readonly onReport: (report: Report) => void;
  readonly onExit: (exit: Exit) => void;
}

export type Fork = (process: number, events: ForkEvents) => Forked;

/** Events of a child that concern the other processes. */
export interface ChildEvents {
  readonly onReport: (child: Child, report: Report) => void;
  readonly onExit: (child: Child) => void;
}

/** One process of a server, from its start to its end: it prepares all, is told to listen, listens. */
export class Child implements Member {
  /** Resolves when it has ended. */
  readonly exited: Promise<Exit>;
  /** Resolves when it could listen, with false when it has ended before. */
  readonly prepared: Promise<boolean>;
  /** Resolves when it listens, with where; with undefined when it has ended before. */
  readonly listening: Promise<string | undefined>;
  /** Why its start failed, in its own words. */
  failure: string | undefined;
  ended = false;
  /** How many pings it has answered. */
  answers = 0;
  /** It takes part in what all are asked. */
  member = false;
  /** It takes connections. */
  serving = false;

  private readonly forked: Forked;

  constructor(
    readonly process: number,
    fork: Fork,
    events: ChildEvents,
  ) {
    const exited = deferred<Exit>();
    const prepared = deferred<boolean>();
    const listening = deferred<string | undefined>();
    this.exited = exited.promise;
    this.prepared = prepared.promise;
    this.listening = listening.promise;
    this.forked = fork(process, {
      onReport: (report) => {
        if (report.kind === 'prepared') {
          this.member = true;
          prepared.resolve(true);
        } else if (report.kind === 'listening') {
          this.serving = true;
          listening.resolve(report.place);
        } else if (report.kind === 'pong') {
          this.answers++;
        } else if (report.kind === 'failed') {
          this.failure = report.reason;
        } else {
          events.onReport(this, report);
        }
      },
      onExit: (exit) => {
        this.ended = true;
        this.member = false;
        this.serving = false;
        prepared.resolve(false);
        listening.resolve(undefined);
        exited.resolve(exit);
        events.onExit(this);
      },
    });
  }

  get pid(): number {
    return this.forked.pid;
  }

  send(command: ProcessCommand): void {
    this.forked.send(command);
  }

  kill(): void {
    this.forked.kill();
  }
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (settle = resolve));
  return { promise, resolve: settle };
}
