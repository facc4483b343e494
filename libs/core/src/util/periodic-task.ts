import type { Clock, Interval } from '../clock/clock';
import { reasonOf } from '../errors/leaf-error';

export interface PeriodicTaskSnapshot {
  readonly name: string;
  readonly running: boolean;
  readonly runs: number;
  readonly failures: number;
  /** Consecutive failures since the last success. */
  readonly failuresInRow: number;
  /** Unix milliseconds. */
  readonly lastSuccessAt: number | undefined;
  readonly lastError: string | undefined;
}

/**
 * A periodic job. Runs never overlap, failures are recorded and reported instead of thrown, and {@link stop} waits for
 * the current run. It has no timer: the owner calls {@link run}.
 */
export class PeriodicTask {
  private current: Promise<void> | undefined;
  private stopped = false;
  private runs = 0;
  private failures = 0;
  private failuresInRow = 0;
  private lastSuccessAt: number | undefined;
  private lastError: string | undefined;

  constructor(
    readonly name: string,
    private readonly action: () => Promise<void>,
    private readonly clock: Clock,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Starts a run, or joins the current one. Never rejects. Does nothing after {@link stop}. */
  run(): Promise<void> {
    if (this.stopped) return Promise.resolve();
    this.current ??= this.once().finally(() => {
      this.current = undefined;
    });
    return this.current;
  }

  /** Prevents further runs. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.current;
  }

  snapshot(): PeriodicTaskSnapshot {
    return {
      name: this.name,
      running: this.current !== undefined,
      runs: this.runs,
      failures: this.failures,
      failuresInRow: this.failuresInRow,
      lastSuccessAt: this.lastSuccessAt,
      lastError: this.lastError,
    };
  }

  /** Reports a failure. A listener that throws does not break the job. */
  private tell(error: unknown): void {
    try {
      this.onError(error);
    } catch (fault) {
      this.lastError = `${reasonOf(error)}; the error listener also failed: ${reasonOf(fault)}`;
    }
  }

  private async once(): Promise<void> {
    this.runs++;
    try {
      await this.action();
      this.lastSuccessAt = this.clock.now();
      this.lastError = undefined;
      this.failuresInRow = 0;
    } catch (error) {
      this.failures++;
      this.failuresInRow++;
      this.lastError = reasonOf(error);
      this.tell(error);
    }
  }
}

interface TickerOptions {
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
