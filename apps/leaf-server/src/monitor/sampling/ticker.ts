import type { Clock, PeriodicTask } from '@leaf-ids/core';

/** Runs a task at once and then again and again, until stopped. A run that comes late is not made up for. */
export class Ticker {
  private readonly stopping = new AbortController();
  private turning: Promise<void> | undefined;

  /** @param everyMs from the start of one run to that of the next, in milliseconds */
  constructor(
    private readonly task: PeriodicTask,
    private readonly everyMs: number,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.turning ??= this.turn();
  }

  /** Resolves when the run under way has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.turning;
  }

  private async turn(): Promise<void> {
    const { signal } = this.stopping;
    for (let due = this.clock.monotonic(); !signal.aborted;) {
      await this.task.run();
      due = Math.max(due + this.everyMs, this.clock.monotonic());
      await this.clock.sleep(due - this.clock.monotonic(), signal);
    }
  }
}
