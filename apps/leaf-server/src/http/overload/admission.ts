import type { ServerResponse } from 'node:http';
import type { Clock } from '@leaf-ids/core';
import type { AdmissionLimits } from '../../config/leaf-config';
import { type OverloadCounts, OverloadResponder, type RefusalReason } from './refusals';
import type { Connections, PendingResponses } from './connections';
import { Lane, type LaneRequest } from './lane';
import type { RouteKind } from './route-kind';

/** Time in which queued ID requests are begun before other events have their turn, in milliseconds. */
const SLICE_MS = 5;
/** How long turns may come late (a burst) before requests are refused, in milliseconds. */
const BURST_MS = 100;
/** With fewer requests in the queue, something else holds the event loop, such as SQLite: to refuse them helps nobody. */
const MIN_LATE = 16;
/** Weight of a new measurement in the running mean. */
const COST_SHARE = 0.1;
/** Metrics, lists, pages: at most a fifth of the event loop, and at most so many of their responses in memory. */
const COSTLY = { maxBegun: 2, holdMs: 1000, maxSlow: 32, maxWaiting: 32, waitMs: 5000, pauseFactor: 4 };
/** Changes by operators. They are short, and an operator must not lose a response. */
const COMMANDS = { maxBegun: 8, holdMs: 250, maxSlow: Infinity, maxWaiting: 64, waitMs: 5000, pauseFactor: 0 };

/** Worker windows: each waits for the registry. */
const WINDOWS = { maxBegun: 16, holdMs: 1000, maxSlow: Infinity, maxWaiting: 512, waitMs: 5000, pauseFactor: 1 };
/** Numbers of documents: those that are begun together share a transaction. */
const NUMBERS = { maxBegun: 512, holdMs: 5000, maxSlow: Infinity, maxWaiting: 512, waitMs: 5000, pauseFactor: 0 };

interface Waiting {
  readonly response: ServerResponse;
  readonly begin: () => void;
  readonly since: number;
}

/**
 * Decides when a request is begun, once the router has found its route, or its token is checked and its body complete.
 *
 * - Probes and requests from other servers: at once.
 * - ID requests wait in one queue and are begun one after the other, a slice of time in each turn of the event loop. If
 *   too many wait, or too long, they are refused at once.
 * - Costly routes, commands of operators, worker windows and numbers have a {@link Lane} each, in which the clients take
 *   turns.
 *
 * Single IDs, ranges and small batches from memory do not come here: a refusal would cost as much as the response.
 */
export class Admission {
  private readonly line: Waiting[] = [];
  private running = false;
  private sliceEnd = 0;
  private lateSince: number | undefined;
  /** Time at which the latest request of this slice was begun; 0 if none was. */
  private begunAt = 0;
  /** Running mean of the time that a request takes, in milliseconds. */
  private cost = 0;
  private readonly refusals: OverloadResponder;
  private readonly costly: Lane;
  private readonly commands: Lane;
  private readonly windows: Lane;
  private readonly numbers: Lane;

  constructor(
    private readonly limits: AdmissionLimits,
    private readonly connections: Connections,
    private readonly pending: PendingResponses,
    private readonly clock: Clock,
    private readonly counts: OverloadCounts,
  ) {
    this.refusals = new OverloadResponder(clock);
    this.costly = new Lane(COSTLY, clock, () => this.line.length === 0);
    this.commands = new Lane(COMMANDS, clock, () => true);
    this.windows = new Lane(WINDOWS, clock, () => this.line.length === 0);
    this.numbers = new Lane(NUMBERS, clock, () => true);
  }

  /**
   * Calls `begin` when the request has its turn, or refuses it. A command or a request for a worker window or a number is
   * begun at once: {@link passBody} decides when its handler runs.
   *
   * @param clientOf whose request it is
   */
  pass(kind: RouteKind, clientOf: () => string, response: ServerResponse, begin: () => void): void {
    const surplus = this.connections.isSurplus(response.req.socket);
    if (surplus || this.connections.closing) response.shouldKeepAlive = false;
    switch (kind) {
      case 'probe':
      case 'peer':
      case 'command':
      case 'window':
      case 'number':
        this.follow(response);
        begin();
        break;
      case 'costly':
      case 'endless':
        this.enterCostly({ client: clientOf(), response, begin, endless: kind === 'endless' });
        break;
      case 'id':
        if (surplus) this.refuse(response, 'connections');
        else this.queue(response, begin);
    }
  }

  /** Like {@link pass}, once the body of the request is complete. */
  passBody(kind: RouteKind, clientOf: () => string, response: ServerResponse, begin: () => void): void {
    const request = { client: clientOf(), response, begin, endless: false };
    if (kind === 'command') this.enter(this.commands, 'orders', request);
    else if (kind === 'window') this.enter(this.windows, 'windows', request);
    else if (kind === 'number') this.enter(this.numbers, 'numbers', request);
    else begin();
  }

  private enter(lane: Lane, reason: RefusalReason, request: Omit<LaneRequest, 'refuse'>): void {
    const { response } = request;
    const refuse = (): void => {
      this.counts.add(reason);
      this.refusals.refuse(response);
    };
    if (!lane.enter({ ...request, refuse })) this.refuse(response, reason);
    else if (reason === 'costly') this.follow(response);
  }

  /** Until the request is begun, its connection can be replaced. */
  private enterCostly(request: Omit<LaneRequest, 'refuse'>): void {
    const { response } = request;
    const begin = (): void => {
      this.pending.begin(response);
      request.begin();
    };
    this.pending.wait(response);
    this.enter(this.costly, 'costly', { ...request, begin });
  }

  private queue(response: ServerResponse, begin: () => void): void {
    if (!this.counts.hasRoom(this.limits.maxInFlight)) {
      this.refuse(response, 'in_flight');
    } else if (this.line.length * this.cost > this.limits.maxLagMs && this.isShedding(this.clock.monotonic())) {
      this.refuse(response, 'lag');
    } else {
      this.follow(response, () => this.counts.inFlight--);
      this.counts.inFlight++;
      this.line.push({ response, begin, since: this.clock.monotonic() });
      this.run();
    }
  }

  /** @param release what else to do when the response is sent or its connection closed */
  private follow(response: ServerResponse, release?: () => void): void {
    const { socket } = response.req;
    this.pending.follow(response, () => {
      release?.();
      if (this.connections.closing && socket.writable) socket.destroySoon();
    });
  }

  /** Refuses a request that does not wait yet. */
  private refuse(response: ServerResponse, reason: RefusalReason): void {
    this.counts.add(reason);
    // Readers of costly routes that are refused at once would ask again at once, all together.
    const isLate = reason === 'costly' || this.refusals.isHasty(response.req.socket);
    if (this.connections.closing || !isLate || this.connections.isSurplus(response.req.socket)) {
      this.refusals.refuse(response);
      return;
    }
    this.follow(response);
    this.pending.wait(response);
    void this.refusals.refuseLater(response);
  }

  private run(): void {
    if (this.running) return;
    this.running = true;
    setImmediate(() => {
      this.begunAt = 0;
      this.sliceEnd = this.clock.monotonic() + SLICE_MS;
      this.step();
    });
  }

  /** Begins the first request of the queue, and itself again once all is done that does not wait for an event. */
  private readonly step = (): void => {
    const now = this.clock.monotonic();
    if (this.begunAt > 0) this.cost += (now - this.begunAt - this.cost) * COST_SHARE;
    const next = now < this.sliceEnd ? this.line.shift() : undefined;
    if (next === undefined) {
      this.running = false;
      if (this.line.length > 0) this.run();
      else this.lateSince = undefined;
      return;
    }
    this.begunAt = 0;
    if (this.isLate(now - next.since, now)) {
      this.counts.add('lag');
      this.refusals.refuse(next.response);
    } else if (!next.response.destroyed) {
      this.begunAt = now;
      next.begin();
    }
    queueMicrotask(() => {
      process.nextTick(this.step);
    });
  };

  /** Whether a request waited too long, in a queue that has not been empty since the first one that did. */
  private isLate(waitedMs: number, now: number): boolean {
    if (waitedMs <= this.limits.maxLagMs) return false;
    this.lateSince ??= now;
    return this.isShedding(now);
  }

  private isShedding(now: number): boolean {
    if (this.line.length < MIN_LATE) return false;
    return this.lateSince !== undefined && now - this.lateSince >= BURST_MS;
  }
}
