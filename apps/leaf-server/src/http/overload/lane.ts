import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Clock } from '@leaf-ids/core';

export interface LaneLimits {
  /** Requests that are in progress at once. One that is still in progress after `holdMs` does not count any more. */
  readonly maxBegun: number;
  readonly holdMs: number;
  /**
   * Responses beyond `holdMs`: for a new one, the oldest of the client that has most is cut off, since that client reads
   * slowly or not at all.
   */
  readonly maxSlow: number;
  /** Requests that wait, and how long one waits before it is refused. */
  readonly maxWaiting: number;
  readonly waitMs: number;
  /** The lane pauses for so many times the time of the event loop that a request took. */
  readonly pauseFactor: number;
}

export interface LaneRequest {
  /** Client of the request: the clients of a lane take turns. */
  readonly client: string;
  readonly response: ServerResponse;
  /** Called when the request has its turn. */
  readonly begin: () => void;
  /** Called when it waited too long, or gives its place in the queue to another client. */
  readonly refuse: () => void;
  /** The response has no end: it does not hold a place. */
  readonly endless: boolean;
}

interface Waiting extends LaneRequest {
  readonly since: number;
}

/** Longest pause of the lane after a request, in milliseconds. */
const MAX_PAUSE_MS = 2000;
/** Longest time that a request yields to ID requests, in milliseconds. */
const MAX_YIELD_MS = 500;

/** Starts requests of one kind one at a time, each in its own turn of the event loop, within a share of its time. */
export class Lane {
  private readonly queue = new FairQueue<Waiting>();
  /** Responses that are read slowly, with their clients, oldest first. */
  private readonly slow = new Map<ServerResponse, string>();
  /** The client of each request in progress. */
  private readonly begun: string[] = [];
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

  /** Begins the request when it has its turn, or refuses it; false if too many wait. */
  enter(request: LaneRequest): boolean {
    if (this.queue.size >= this.limits.maxWaiting) {
      const evicted = this.queue.evictFor(request.client);
      if (evicted === undefined) return false;
      evicted.refuse();
    }
    this.queue.push(request.client, { ...request, since: this.clock.monotonic() });
    if (!this.running) void this.run();
    return true;
  }

  private async run(): Promise<void> {
    this.running = true;
    let waitMs = 0;
    while (this.queue.size > 0) {
      if (waitMs > 0) await this.clock.sleep(waitMs, this.change.signal);
      else await new Promise((resolve) => setImmediate(resolve));
      waitMs = this.step(this.clock.monotonic());
    }
    this.running = false;
  }

  /** Begins the next request if it is time. Returns how long nothing can be done, in ms. */
  private step(now: number): number {
    this.refuseLate(now);
    const next = this.queue.peek((client) => count(this.begun, client));
    if (next === undefined) return 0;
    if (next.response.destroyed) {
      this.queue.remove(next.client);
      return 0;
    }
    if (this.begun.length === this.limits.maxBegun || now < this.nextAt) {
      const untilTurn = this.begun.length === this.limits.maxBegun ? Infinity : this.nextAt - now;
      const oldest = Math.min(...this.queue.heads.map(({ since }) => since));
      return Math.min(untilTurn, oldest + this.limits.waitMs - now);
    }
    if (now - next.since >= MAX_YIELD_MS || this.isQuiet()) {
      this.queue.remove(next.client);
      void this.begin(next);
    }
    return 0;
  }

  private refuseLate(now: number): void {
    for (const { client, response, since, refuse } of this.queue.heads) {
      if (now - since < this.limits.waitMs) continue;
      this.queue.remove(client);
      if (!response.destroyed) refuse();
    }
  }

  private async begin({ client, response, begin, endless }: Waiting): Promise<void> {
    const { holdMs, maxSlow, pauseFactor } = this.limits;
    const closed = new AbortController();
    const activeBefore = this.activeMs();
    this.begun.push(client);
    response.once('close', () => {
      closed.abort();
      this.slow.delete(response);
    });
    begin();
    await this.clock.sleep(endless ? 0 : holdMs, closed.signal);
    this.begun.splice(this.begun.indexOf(client), 1);
    const pauseMs = Math.min((this.activeMs() - activeBefore) * pauseFactor, MAX_PAUSE_MS);
    this.nextAt = Math.max(this.nextAt, this.clock.monotonic() + pauseMs);
    if (!closed.signal.aborted && !endless) this.addSlow(response, client, maxSlow);
    this.change.abort();
    this.change = new AbortController();
  }

  private addSlow(response: ServerResponse, client: string, most: number): void {
    this.slow.set(response, client);
    if (this.slow.size <= most) return;
    const clients = [...this.slow.values()];
    const counts = new Map(clients.map((each) => [each, count(clients, each)]));
    const highest = Math.max(...counts.values());
    const oldest = [...this.slow].find(([, each]) => counts.get(each) === highest);
    oldest?.[0].destroy();
  }
}

function count(clients: readonly string[], client: string): number {
  return clients.filter((each) => each === client).length;
}

/** A queue in which each client waits behind itself only: the next item is of the client that has the least in progress. */
export class FairQueue<T> {
  /** By client, each list oldest first; the client to be served next comes first. */
  private readonly waiting = new Map<string, T[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** The oldest item of each client. */
  get heads(): T[] {
    return [...this.waiting.values()].map(([head]) => head as T);
  }

  push(client: string, item: T): void {
    const items = this.waiting.get(client);
    if (items === undefined) this.waiting.set(client, [item]);
    else items.push(item);
    this.count++;
  }

  /** @param loadOf how much of a client is in progress */
  peek(loadOf: (client: string) => number): T | undefined {
    const client = this.next(loadOf);
    return client === undefined ? undefined : this.waiting.get(client)?.[0];
  }

  /** Removes an item of {@link heads}; of its client, the next item has its turn after those of the others. */
  remove(client: string): void {
    const items = this.waiting.get(client);
    if (items === undefined) return;
    items.shift();
    this.count--;
    this.waiting.delete(client);
    if (items.length > 0) this.waiting.set(client, items);
  }

  /**
   * Makes room for an item of `client`: removes and returns the newest item of the client that has most.
   *
   * @returns undefined if `client` itself would then have most
   */
  evictFor(client: string): T | undefined {
    const own = this.waiting.get(client)?.length ?? 0;
    let most: T[] = [];
    for (const items of this.waiting.values()) if (items.length > most.length) most = items;
    if (most.length <= own + 1) return undefined;
    this.count--;
    return most.pop();
  }

  private next(loadOf: (client: string) => number): string | undefined {
    let next: string | undefined;
    let least = Infinity;
    for (const client of this.waiting.keys()) {
      const load = loadOf(client);
      if (load >= least) continue;
      next = client;
      least = load;
    }
    return next;
  }
}
