import { LeafError } from '@leaf/core';
import type { Conditions } from './conditions';
import type { FaultCounts } from './faults';
import type { Actor, Note, Scheduler } from './scheduler';
import type { SeededRandom } from './seeded-random';
import type { SimClock } from './sim-clock';

/** A process, as the network sees it. */
export interface Caller extends Actor {
  readonly clock: SimClock;
  crash(): void;
}

type Fate =
  'delivered' | 'lost request' | 'lost reply' | 'write applied late' | 'crash at a request' | 'crash at a reply';

const FATES: readonly [Fate, ...Fate[]] = [
  'lost request',
  'lost reply',
  'write applied late',
  'crash at a request',
  'crash at a reply',
];

/** Between the processes and the registry's server: it is slow, loses, delays, and is cut. */
export class Network {
  /** True milliseconds until which the server answers nobody. */
  downUntil = 0;
  /** True milliseconds until which a clock's host reaches nobody. */
  private readonly cuts = new Map<SimClock, number>();

  constructor(
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
    private readonly conditions: Conditions,
    private readonly faults: FaultCounts,
    private readonly note: Note | undefined,
  ) {}

  cutOff(host: SimClock, until: number): void {
    this.cuts.set(host, until);
  }

  /**
   * Runs `operation` on the server.
   *
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE` when no answer came in time: it may have run, or may yet run
   */
  call<T>(caller: Caller, label: string, operation: () => T, isWrite: boolean): Promise<T> {
    const { scheduler } = this;
    return new Promise((resolve, reject) => {
      const sent = caller.clock.local;
      const fate = this.fate(sent, isWrite);
      const arrives = sent + (fate === 'write applied late' ? this.lateness() : this.latency());
      const timeOut = scheduler.at(
        sent + this.conditions.timeoutMs,
        `${label} timed out`,
        () => reject(new LeafError('LEAF_REGISTRY_UNREACHABLE', `No answer to ${label}.`)),
        caller,
      );
      const reply = (result: T): void => {
        timeOut.cancelled = true;
        if (fate === 'crash at a reply') this.crash(caller, fate);
        else resolve(result);
      };
      if (fate === 'crash at a request') scheduler.at(sent, fate, () => this.crash(caller, fate), caller);
      if (fate === 'lost request') return;
      scheduler.at(arrives, `${label} of ${caller.name} arrives`, () => {
        // A late one waits, outside the server, until it can be applied.
        if (fate !== 'write applied late' && this.isCut(caller.clock)) return;
        const result = operation();
        this.note?.(() => `${JSON.stringify(result ?? 'done')}, ${fate}`);
        if (fate === 'lost reply' || fate === 'write applied late') return;
        scheduler.at(scheduler.now + this.latency(), `${label} answered`, () => reply(result), caller);
      });
    });
  }

  private crash(caller: Caller, fate: 'crash at a request' | 'crash at a reply'): void {
    this.faults[fate]++;
    caller.crash();
  }

  private fate(sent: number, isWrite: boolean): Fate {
    if (sent < this.downUntil || !this.random.chance(this.conditions.requestFaults)) return 'delivered';
    const drawn = this.random.pick(FATES);
    const fate = drawn === 'write applied late' && !isWrite ? 'lost reply' : drawn;
    if (fate === 'lost request' || fate === 'lost reply' || fate === 'write applied late') this.faults[fate]++;
    return fate;
  }

  private isCut(host: SimClock): boolean {
    return this.scheduler.now < Math.max(this.downUntil, this.cuts.get(host) ?? 0);
  }

  private latency(): number {
    if (this.conditions.grainMs > 0) return 0;
    return this.random.chance(0.05) ? this.random.spread(20, this.conditions.timeoutMs) : this.random.spread(0.2, 20);
  }

  /** Past the time-out of whoever sent it. */
  private lateness(): number {
    const { grainMs, timeoutMs, horizonMs } = this.conditions;
    const late = timeoutMs + this.random.spread(1, 3 * horizonMs);
    return grainMs > 0 ? Math.ceil(late / grainMs) * grainMs : late;
  }
}
