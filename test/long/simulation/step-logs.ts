import { StepLog } from '@leaf-ids/core/internal';
import type { Scheduler } from './scheduler';
import type { SimClock } from './sim-clock';

/** Receives a line of the step log of a process. */
export type StepWriter = (process: string, line: string) => void;

/** The step logs of the processes of one world, in the order of its true time. */
export class StepLogs {
  private latest = 0;

  constructor(
    private readonly scheduler: Pick<Scheduler, 'now'>,
    private readonly write: StepWriter,
  ) {}

  of(process: string, clock: SimClock): StepLog {
    // Microseconds, all different.
    const order = (): number => (this.latest = Math.max(this.latest + 1, Math.round(this.scheduler.now * 1000)));
    return new StepLog({ now: () => clock.shown }, { order, write: (line) => this.write(process, line) });
  }
}
