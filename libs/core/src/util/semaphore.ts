import type { Clock } from '../clock/clock';
import { withinDeadline } from './deadline';

/** Limits how many callers are in at the same time; the others wait in FIFO order, each until its deadline. */
export class Semaphore {
  private readonly waiting = new Set<() => void>();

  /** @param maxWaiting further callers are refused at once */
  constructor(
    private free: number,
    private readonly clock: Clock,
    private readonly maxWaiting = Infinity,
  ) {}

  /**
   * @param deadline monotonic milliseconds; without it, the caller waits as long as it takes
   * @returns whether the caller is in; it must call {@link leave} afterwards
   */
  async enter(deadline = Infinity): Promise<boolean> {
    if (this.free > 0) {
      this.free--;
      return true;
    }
    if (this.waiting.size >= this.maxWaiting) return false;
    let admitted = false;
    let admit = (): void => undefined;
    const turn = new Promise<void>((resolve) => {
      admit = () => {
        admitted = true;
        resolve();
      };
    });
    this.waiting.add(admit);
    await (deadline === Infinity ? turn : withinDeadline(turn, deadline, this.clock));
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
