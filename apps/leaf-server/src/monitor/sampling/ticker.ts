import type { Clock } from '@leaf-ids/core';
import type { PeriodicTask } from '@leaf-ids/core/internal';

/** Runs a task immediately and then periodically until stopped. Missed runs are skipped. */
export class Ticker {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  /** @param everyMs interval between the starts of two runs, in milliseconds */
  constructor(
    private readonly task: PeriodicTask,
    private readonly everyMs: number,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  /** Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    for (let due = this.clock.monotonic(); !signal.aborted;) {
      await this.task.run();
      due = Math.max(due + this.everyMs, this.clock.monotonic());
      await this.clock.sleep(due - this.clock.monotonic(), signal);
    }
  }
}
