import type { Clock, Interval } from '../clock/clock';

export interface TickerOptions {
  /** Interval between the starts of two runs, in milliseconds. */
  readonly everyMs: number;
  /** Also run at the start. */
  readonly atStart?: boolean;
}

/** Runs a job at intervals until it is stopped. */
export class Ticker {
  private interval: Interval | undefined;
  private current: Promise<void> = Promise.resolve();

  /** @param run never rejects, and joins a run under way, as `PeriodicTask.run` */
  constructor(
    readonly name: string,
    private readonly run: () => Promise<void>,
    private readonly options: TickerOptions,
    private readonly clock: Clock,
  ) {}

  /** The timer of Node.js between start and stop. To clear it stops the ticker, too. */
  get timer(): NodeJS.Timeout | undefined {
    return this.interval?.timer;
  }

  start(): void {
    const { everyMs, atStart = false } = this.options;
    this.interval ??= this.clock.every(everyMs, () => this.tick());
    if (atStart) this.tick();
  }

  /** Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.interval?.cancel();
    this.interval = undefined;
    await this.current;
  }

  private tick(): void {
    this.current = this.run();
  }
}
