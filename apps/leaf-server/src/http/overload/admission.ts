import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '@leaf-ids/core';
import type { AdmissionLimits } from '../../config/http-limits';
import type { OverloadCounts, RefusalReason } from './overload-counts';
import type { PendingResponses } from './pending-responses';
import type { Connections } from './connections';
import { OverloadResponder } from './overload-responder';

/** What operators and probes need most when a server is overloaded. It never waits and is never refused. */
const ALWAYS_ADMITTED = ['/health/', '/metrics', '/api/tags', '/api/server/', '/api/monitor/', '/api/internal/'];
/** Requests that wait are begun for so long, then whatever else is due has its turn. */
const SLICE_MS = 5;
/** A burst: turns may come late for so long before anything is refused for it. */
const BURST_MS = 100;

/** Of a new measurement in the running mean. */
const COST_SHARE = 0.1;

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly since: number;
}

/**
 * Stands before the framework. Requests wait in one line and are begun one after the other, a slice of time in each turn
 * of the event loop, so that large ones hold nobody up; too many, or too late, they are refused at once: a refusal
 * costs a fraction of a batch.
 *
 * Single IDs, ranges and small batches from memory do not come here: refusing one costs as much as serving it. What bounds their wait is the
 * number of connections, each of which has one request under way.
 */
export class Admission {
  private readonly line: Waiting[] = [];
  private running = false;
  private sliceEnd = 0;
  private lateSince: number | undefined;
  /** When the last one was begun in this slice; 0: none was. */
  private begunAt = 0;
  /** What one has taken lately, in milliseconds. */
  private cost = 0;
  private readonly refusals: OverloadResponder;

  constructor(
    private readonly limits: AdmissionLimits,
    private readonly connections: Connections,
    private readonly pending: PendingResponses,
    private readonly clock: Clock,
    private readonly counts: OverloadCounts,
    private readonly handler: RequestListener,
  ) {
    this.refusals = new OverloadResponder(clock);
  }

  /** Has the request answered, or refuses it. */
  pass(request: IncomingMessage, response: ServerResponse): void {
    const { url = '' } = request;
    const surplus = this.connections.isSurplus(request.socket);
    if (surplus || this.connections.closing) response.shouldKeepAlive = false;
    if (ALWAYS_ADMITTED.some((prefix) => url.startsWith(prefix))) {
      this.follow(response);
      this.handler(request, response);
    } else if (surplus) {
      this.refuse(response, 'connections');
    } else if (this.counts.inFlight >= this.limits.maxInFlight) {
      this.refuse(response, 'in_flight');
    } else if (this.line.length * this.cost > this.limits.maxLagMs && this.isShedding(this.clock.monotonic())) {
      this.refuse(response, 'lag');
    } else {
      this.follow(response, () => this.counts.inFlight--);
      this.counts.inFlight++;
      this.line.push({ request, response, since: this.clock.monotonic() });
      this.run();
    }
  }

  /** @param release what else is to happen when the answer is out */
  private follow(response: ServerResponse, release?: () => void): void {
    const { socket } = response.req;
    this.pending.follow(response, () => {
      release?.();
      // Of those that follow on it, the first pieces may be out; one that ends already would only note down that it is to.
      if (this.connections.closing && socket.writable && !this.pending.isUnderWay(socket)) socket.destroySoon();
    });
  }

  /** Of a request that has not been let in yet. */
  private refuse(response: ServerResponse, reason: RefusalReason): void {
    this.counts.add(reason);
    if (this.connections.closing || !this.refusals.isHasty(response.req.socket)) {
      this.refusals.refuse(response);
      return;
    }
    this.follow(response);
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

  /** Begins the first of the line, then itself again once all is done that needs no waiting. */
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
      this.handler(next.request, next.response);
    }
    queueMicrotask(() => {
      process.nextTick(this.step);
    });
  };

  /** Late is who waited too long, in a line that has not been empty since the first one did: not after a mere burst. */
  private isLate(waitedMs: number, now: number): boolean {
    if (waitedMs <= this.limits.maxLagMs) return false;
    this.lateSince ??= now;
    return this.isShedding(now);
  }

  private isShedding(now: number): boolean {
    return this.lateSince !== undefined && now - this.lateSince >= BURST_MS;
  }
}
