import { type Clock, withinDeadline } from '@leaf-ids/core';

/** So many wait for a connection; those who come after them are refused. */
const WAITING_AT_MOST = 10_000;

/** Gives each of a few connections to one at a time, first come, first served. Whoever's time is up leaves the line. */
export class ConnectionLine {
  private readonly waiting = new Set<() => void>();

  constructor(
    private free: number,
    private readonly clock: Clock,
  ) {}

  /**
   * @param deadline monotonic milliseconds
   * @returns whether there is a connection for the caller, who has to {@link leave} then
   */
  async enter(deadline: number): Promise<boolean> {
    if (this.free > 0) {
      this.free--;
      return true;
    }
    if (this.waiting.size >= WAITING_AT_MOST) return false;
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
