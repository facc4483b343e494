import { LeafError } from '@leaf-ids/core';
import type { Note, Scheduler } from './scheduler';
import type { SeededRandom } from '../../support/seeded-random';
import type { SimClock } from './sim-clock';
import type { Actor } from './scheduler';

export type Fate = 'lost request' | 'lost answer' | 'late write' | 'crash at a request' | 'crash at an answer';

/** A fault that is set for a later request of one place. */
export interface ArmedFate {
  readonly fate: Fate;
  readonly ms: number;
}

/** One place's way to the registry; it outlives the processes there. */
export class Line {
  readonly armed: ArmedFate[] = [];
  /** True milliseconds until which it reaches nobody. */
  cutUntil = 0;
  /** True milliseconds of the newest exchange that failed. */
  failedAt = -1;
}

/** A process, as the network sees it. */
export interface Caller extends Actor {
  /** Of its records: that of another process for a copy of it. */
  readonly leaseId: string;
  readonly clock: SimClock;
  readonly line: Line;
  readonly random: SeededRandom;
  crash(): void;
}

/** The network between the processes and the registry's server: it delays, loses and cuts. */
export class Network {
  /** True milliseconds until which the server answers nobody. */
  downUntil = 0;
  /** Changes with the server: requests sent to an earlier one do not arrive. */
  server = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly timeoutMs: number,
    /** What each message takes at least, in milliseconds. */
    private readonly latencyMs: number,
    private readonly note: Note | undefined,
  ) {}

  /**
   * Runs `operation` on the server.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE` when no answer came in time: it may have run, or may yet run
   */
  call<T>(caller: Caller, label: string, operation: () => T, isWrite: boolean): Promise<T> {
    const { scheduler, server } = this;
    return new Promise((resolve, reject) => {
      const sent = caller.clock.local;
      const { fate, ms } = this.fate(caller, isWrite);
      const fail = (): void => {
        caller.line.failedAt = scheduler.now;
        reject(new LeafError('LEAF_REGISTRY_UNREACHABLE', `No answer to ${label}.`, { retryAfterMs: 1000 }));
      };
      const timeOut = scheduler.at(sent + this.timeoutMs, `${label} timed out`, fail, caller);
      if (fate === 'crash at a request') scheduler.at(sent, fate, () => caller.crash(), caller);
      if (fate === 'lost request') return;
      scheduler.at(
        sent + (fate === 'late write' ? ms : this.latency(caller)),
        `${label} of ${caller.name} arrives`,
        () => {
          if (this.server !== server) return;
          // A late request waits outside the server until it is applied.
          if (fate !== 'late write' && this.isCut(caller)) return;
          const result = operation();
          this.note?.(
            () => `${result === undefined ? 'done' : JSON.stringify(result)}${fate === undefined ? '' : `, ${fate}`}`,
          );
          if (fate === 'lost answer' || fate === 'late write') return;
          scheduler.at(
            scheduler.now + this.latency(caller),
            `${label} answered`,
            () => {
              // An answer after the time-out is dropped.
              timeOut.cancelled = true;
              if (fate === 'crash at an answer') {
                caller.crash();
                return;
              }
              resolve(result);
            },
            caller,
          );
        },
      );
    });
  }

  /** Asks another process for its time. */
  ask(caller: Caller, other: () => Caller | undefined): Promise<number> {
    const { scheduler } = this;
    return new Promise((resolve, reject) => {
      scheduler.at(scheduler.now + this.latency(caller), 'time asked', () => {
        const answering = other();
        if (!answering?.alive || answering.busyUntil > scheduler.now || scheduler.now < caller.line.cutUntil) {
          scheduler.at(scheduler.now, 'no time', () => reject(new Error('not there')), caller);
          return;
        }
        answering.clock.refresh();
        const time = answering.clock.shown;
        scheduler.at(scheduler.now + this.latency(caller), 'time told', () => resolve(time), caller);
      });
    });
  }

  private fate({ line }: Caller, isWrite: boolean): { readonly fate: Fate | undefined; readonly ms: number } {
    const [first] = line.armed;
    if (first === undefined || (first.fate === 'late write' && !isWrite)) return { fate: undefined, ms: 0 };
    line.armed.shift();
    return first;
  }

  private isCut({ line }: Caller): boolean {
    return this.scheduler.now < Math.max(this.downUntil, line.cutUntil);
  }

  private latency({ random }: Caller): number {
    const ms = random.chance(0.03) ? random.spread(20, this.timeoutMs / 2 - this.latencyMs) : random.spread(0.2, 20);
    return this.latencyMs + ms;
  }
}
