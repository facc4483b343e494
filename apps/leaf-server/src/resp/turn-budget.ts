import type { Clock } from '@leaf-ids/core';

/** Time of all connections together in one turn of the event loop. */
const TURN_MS = 2;
/** Time of one connection while others wait. */
const SLICE_MS = 0.2;

/** Limits how long connections work in each turn of the event loop, so that HTTP has its turn in between. */
export class TurnBudget {
  /** Oldest first. */
  private readonly waiting: (() => void)[] = [];
  /** Monotonic; undefined: nothing has been done in this turn. */
  private endsAt: number | undefined;

  constructor(private readonly clock: Clock) {}

  /** Whether a connection that works since `begunAt` may go on. */
  admits(now: number, begunAt = now): boolean {
    if (this.waiting.length > 0 && now - begunAt >= SLICE_MS) return false;
    if (this.endsAt === undefined) {
      this.endsAt = now + TURN_MS;
      setImmediate(() => this.next());
    }
    return now < this.endsAt;
  }

  /** Calls `resume` in a later turn, after those that have waited for longer. */
  wait(resume: () => void): void {
    this.waiting.push(resume);
  }

  private next(): void {
    this.endsAt = undefined;
    while (this.waiting.length > 0 && this.admits(this.clock.monotonic())) this.waiting.shift()?.();
  }
}
