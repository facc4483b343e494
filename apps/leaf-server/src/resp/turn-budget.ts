import type { Clock } from '@leaf-ids/core';

/** Time of all connections together in one turn of the event loop. */
const TURN_MS = 1;
/** The same while connections arrive: Node.js accepts one in each turn, and others wait for that in the system. */
const ARRIVAL_TURN_MS = 0.25;
/** Time of one connection while others wait. */
const SLICE_MS = 0.2;

/** Limits how long connections work in each turn of the event loop, so that HTTP has its turn in between. */
export class TurnBudget {
  /** Connections whose work has not begun; the longest waiting comes first. */
  private readonly waiting: (() => void)[] = [];
  /** Connections whose slice is over. */
  private readonly interrupted: (() => void)[] = [];
  /** Monotonic; undefined: nothing has been done in this turn. */
  private endsAt: number | undefined;
  private hasArrival = false;
  /** Connections served: also turns with time for one of them alternate. */
  private served = 0;

  constructor(private readonly clock: Clock) {}

  /** Whether a connection that works since `begunAt` may go on. */
  admits(now: number, begunAt = now): boolean {
    if (this.isAwaited && now - begunAt >= SLICE_MS) return false;
    if (this.endsAt === undefined) {
      this.endsAt = now + (this.hasArrival ? ARRIVAL_TURN_MS : TURN_MS);
      this.hasArrival = false;
      setImmediate(() => this.next());
    }
    return now < this.endsAt;
  }

  /** A connection was accepted: the next turn is short, so that the next one is accepted soon. */
  arrive(): void {
    this.hasArrival = true;
  }

  /**
   * Calls `resume` in a later turn. Connections whose work has not begun alternate with interrupted ones: otherwise a
   * single command would wait for a slice of each long reply.
   */
  wait(resume: () => void, isInterrupted: boolean): void {
    (isInterrupted ? this.interrupted : this.waiting).push(resume);
  }

  private get isAwaited(): boolean {
    return this.waiting.length + this.interrupted.length > 0;
  }

  private next(): void {
    this.endsAt = undefined;
    for (; this.isAwaited && this.admits(this.clock.monotonic()); this.served++) {
      const [first, second] =
        this.served % 2 === 0 ? [this.waiting, this.interrupted] : [this.interrupted, this.waiting];
      (first.shift() ?? second.shift())?.();
    }
  }
}
