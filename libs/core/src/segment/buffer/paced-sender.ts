import type { Clock } from '../../clock/clock';
import { FlightLimit } from './flight-limit';

interface Work {
  /** Whether anything waits that may be sent now. */
  readonly isReady: () => boolean;
  /**
   * Takes what waits, before it returns, and sends it. Resolves once it is answered or has failed; never rejects.
   *
   * @returns whether it was answered
   */
  readonly send: () => Promise<boolean>;
}

/** Sends what waits, when {@link FlightLimit} allows it. */
export class PacedSender {
  private readonly limit: FlightLimit;
  private starting = false;
  /** Ends the timer that calls {@link wake}; undefined while there is none. */
  private cancel: (() => void) | undefined;

  /** @param most statements or requests in flight at a time */
  constructor(
    private readonly clock: Pick<Clock, 'monotonic' | 'after'>,
    most: number,
    private readonly work: Work,
  ) {
    this.limit = new FlightLimit(most);
  }

  /** Whether something is about to be sent, as soon as the calls of this tick have come. */
  get isStarting(): boolean {
    return this.starting;
  }

  /** Something waits. */
  wake(): void {
    const { waitMs } = this;
    if (this.starting || waitMs === Infinity || (waitMs > 0 && this.cancel !== undefined)) return;
    void this.start();
  }

  private async start(): Promise<void> {
    this.starting = true;
    this.cancel?.();
    this.cancel = undefined;
    // Let calls of the same tick share one statement.
    await Promise.resolve();
    this.starting = false;
    while (this.work.isReady() && this.waitMs === 0) void this.sendNext();
    const { waitMs } = this;
    if (!this.work.isReady() || waitMs === Infinity) return;
    this.cancel = this.clock.after(waitMs, () => {
      this.cancel = undefined;
      this.wake();
    });
  }

  private async sendNext(): Promise<void> {
    const { clock, limit, work } = this;
    const flight = limit.send(clock.monotonic());
    let isAnswered = false;
    try {
      isAnswered = await work.send();
    } finally {
      // Whatever fails, as a listener of an application: a flight that does not end would hold back all others.
      limit.end(flight, clock.monotonic(), isAnswered);
    }
    if (work.isReady()) this.wake();
  }

  private get waitMs(): number {
    return this.limit.waitMs(this.clock.monotonic());
  }
}
