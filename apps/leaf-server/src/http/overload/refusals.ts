import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, LeafError } from '@leaf-ids/core';
import { PROBLEM_TYPE, problemOf, RETRY_AFTER_S } from '@leaf-ids/core/internal';
import { COMMON_HEADERS } from '../responses/problem';

const REASONS = ['connections', 'in_flight', 'lag', 'pipelined', 'costly', 'orders', 'windows', 'numbers'] as const;

/**
 * The limit that a refused request exceeded. `connections`: it came on a connection beyond the limit, or the connection
 * itself was closed; `in_flight`: too many requests were in progress; `lag`: its turn came too late; `pipelined`: too
 * many requests waited behind another one, and their connection was closed; `costly`, `orders` (commands), `windows` and
 * `numbers`: too many requests of that lane waited.
 */
export type RefusalReason = (typeof REASONS)[number];

/** Counts the refusals of the overload protection and the requests in progress. */
export class OverloadCounts {
  private readonly counts = new Map<RefusalReason, number>(REASONS.map((reason) => [reason, 0]));
  /** Requests of IDs that wait or are being answered. */
  inFlight = 0;

  add(reason: RefusalReason): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  }

  all(): Iterable<readonly [RefusalReason, number]> {
    return this.counts;
  }

  /** Whether fewer than `limit` requests are in progress. */
  hasRoom(limit: number): boolean {
    return this.inFlight < limit;
  }

  /** Counts a request as in progress until `ids` settles. */
  async during<T>(ids: Promise<T>): Promise<T> {
    this.inFlight++;
    try {
      return await ids;
    } finally {
      this.inFlight--;
    }
  }
}

/** Minimum delay of a late refusal. */
const HOLD_MS = 500;
/** Time between two late refusals, so that clients that retry at once do not all return at the same moment. */
const SPACING_MS = 0.5;
const BODY = JSON.stringify(problemOf(overloaded()));
/** Built once: a refusal must cost much less than the request that it refuses. */
const HEADERS = [
  ...Object.entries(COMMON_HEADERS).flat(),
  ...['content-type', PROBLEM_TYPE],
  ...['content-length', String(Buffer.byteLength(BODY))],
  ...['retry-after', String(RETRY_AFTER_S)],
];

/** The refusal of a request beyond a limit of the overload protection. */
export function overloaded(): LeafError {
  return new LeafError('LEAF_OVERLOADED', 'This server is overloaded. Use another server, or retry later.');
}

/**
 * Answers `LEAF_OVERLOADED`: at once, or late to a client that ignores `Retry-After`. Ten thousand refusals a second
 * cost a quarter of a core; a connection that waits for its refusal costs nothing.
 */
export class OverloadResponder {
  /** When the last request of each connection was refused. */
  private readonly refusedAt = new WeakMap<Socket, number>();
  /** Monotonic: when the newest late refusal is sent. */
  private lastLateAt = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** Whether the client of this connection ignores `Retry-After`. */
  isHasty(socket: Socket): boolean {
    const refusedAt = this.refusedAt.get(socket) ?? -Infinity;
    return this.clock.monotonic() - refusedAt < RETRY_AFTER_S * 1000;
  }

  refuse(response: ServerResponse): void {
    this.refusedAt.set(response.req.socket, this.clock.monotonic());
    response.writeHead(503, HEADERS);
    response.end(BODY);
  }

  async refuseLater(response: ServerResponse): Promise<void> {
    const now = this.clock.monotonic();
    this.lastLateAt = Math.max(now + HOLD_MS, this.lastLateAt + SPACING_MS);
    await this.clock.sleep(this.lastLateAt - now);
    if (!response.destroyed) this.refuse(response);
  }
}
