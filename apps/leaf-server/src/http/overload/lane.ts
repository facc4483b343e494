import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Clock } from '@leaf-ids/core';

export interface LaneLimits {
  /** Requests that are in progress at once. One that is still in progress after `holdMs` does not count any more. */
  readonly maxBegun: number;
  readonly holdMs: number;
  /** Responses beyond `holdMs`: the oldest is cut off for a new one, since a client reads it slowly or not at all. */
  readonly maxSlow: number;
  /** Requests that wait, and how long one waits before it is refused. */
  readonly maxWaiting: number;
  readonly waitMs: number;
  /** The lane pauses for so many times the time of the event loop that a request took. */
  readonly pauseFactor: number;
}

interface Waiting {
  readonly response: ServerResponse;
  readonly begin: () => void;
  readonly refuse: () => void;
  readonly since: number;
  /** The response has no end: it does not hold a place. */
  readonly endless: boolean;
}

const MAX_PAUSE_MS = 2000;
/** How long a request lets ID requests go first. */
const MAX_YIELD_MS = 500;

/** Starts requests of one kind one at a time, each in its own turn of the event loop, within a share of its time. */
export class Lane {
  private readonly queue: Waiting[] = [];
  /** Oldest first. */
  private readonly slow = new Set<ServerResponse>();
  private begun = 0;
  /** Monotonic: the end of the pause. */
  private nextAt = 0;
  private running = false;
  private change = new AbortController();

  /**
   * @param isQuiet whether no ID request waits
   * @param activeMs how long the event loop has been active so far, in milliseconds
   */
  constructor(
    private readonly limits: LaneLimits,
    private readonly clock: Clock,
    private readonly isQuiet: () => boolean,
    private readonly activeMs = (): number => performance.eventLoopUtilization().active,
  ) {}

  /** Calls `begin` when the request has its turn, or `refuse` when it waited too long; false if too many wait. */
  enter(response: ServerResponse, begin: () => void, refuse: () => void, endless = false): boolean {
    if (this.queue.length >= this.limits.maxWaiting) return false;
    this.queue.push({ response, begin, refuse, since: this.clock.monotonic(), endless });
    if (!this.running) void this.run();
    return true;
  }

  private async run(): Promise<void> {
    this.running = true;
    let waitMs = 0;
    for (let next = this.queue[0]; next !== undefined; next = this.queue[0]) {
      if (waitMs > 0) await this.clock.sleep(waitMs, this.change.signal);
      else await new Promise((resolve) => setImmediate(resolve));
      waitMs = this.step(next, this.clock.monotonic());
    }
    this.running = false;
  }

  /** Begins or refuses `next`, the first of the queue, if it is time. Returns how long nothing can be done, in ms. */
  private step(next: Waiting, now: number): number {
    const waited = now - next.since;
    if (next.response.destroyed) {
      this.queue.shift();
    } else if (waited >= this.limits.waitMs) {
      this.queue.shift();
      next.refuse();
    } else if (this.begun === this.limits.maxBegun || now < this.nextAt) {
      const untilTurn = this.begun === this.limits.maxBegun ? Infinity : this.nextAt - now;
      return Math.min(untilTurn, this.limits.waitMs - waited);
    } else if (waited >= MAX_YIELD_MS || this.isQuiet()) {
      this.queue.shift();
      void this.begin(next);
    }
    return 0;
  }

  private async begin({ response, begin, endless }: Waiting): Promise<void> {
    const { holdMs, maxSlow, pauseFactor } = this.limits;
    const closed = new AbortController();
    const activeBefore = this.activeMs();
    this.begun++;
    response.once('close', () => {
      closed.abort();
      this.slow.delete(response);
    });
    begin();
    await this.clock.sleep(endless ? 0 : holdMs, closed.signal);
    this.begun--;
    const pauseMs = Math.min((this.activeMs() - activeBefore) * pauseFactor, MAX_PAUSE_MS);
    this.nextAt = Math.max(this.nextAt, this.clock.monotonic() + pauseMs);
    if (!closed.signal.aborted && !endless) this.addSlow(response, maxSlow);
    this.change.abort();
    this.change = new AbortController();
  }

  private addSlow(response: ServerResponse, most: number): void {
    this.slow.add(response);
    const [oldest] = this.slow;
    if (this.slow.size > most) oldest?.destroy();
  }
}
