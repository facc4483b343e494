import type { Clock } from '@leaf-ids/core';
import { withinDeadline } from '@leaf-ids/core/internal';

/** Maximum length of the queue; further callers are refused. */
const MAX_WAITING = 10_000;

/** A FIFO queue for a fixed number of connections. A caller leaves the queue at its deadline. */
export class ConnectionLine {
  private readonly waiting = new Set<() => void>();

  constructor(
    private free: number,
    private readonly clock: Clock,
  ) {}

  /**
   * @param deadline monotonic milliseconds
   * @returns whether the caller has a connection; it must call {@link leave} afterwards
   */
  async enter(deadline: number): Promise<boolean> {
    if (this.free > 0) {
      this.free--;
      return true;
    }
    if (this.waiting.size >= MAX_WAITING) return false;
    let admitted = false;
    let admit = (): void => undefined;
    const turn = new Promise<void>((resolve) => {
      admit = () => {
        admitted = true;
        resolve();
      };
    });
    this.waiting.add(admit);
    await withinDeadline(turn, deadline, this.clock);
    this.waiting.delete(admit);
    return admitted;
  }

  leave(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.free++;
    } else {
      this.waiting.delete(next);
      next();
    }
  }
}
