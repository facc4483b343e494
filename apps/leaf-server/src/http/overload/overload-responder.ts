import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, LeafError } from '@leaf-ids/core';
import { COMMON_HEADERS, PROBLEM_TYPE, problemOf } from '../responses/problem';

const RETRY_AFTER_S = 1;
/** How long somebody waits for a refusal who was just told to stay away for {@link RETRY_AFTER_S}. */
const HOLD_MS = 500;
const BODY = JSON.stringify(
  problemOf(
    new LeafError(
      'LEAF_OVERLOADED',
      `This server is asked for more than it can do. Ask another one, or again in ${RETRY_AFTER_S} s.`,
    ),
  ),
);
/** Made once: a refusal has to cost much less than what it refuses. */
const HEADERS = [
  ...Object.entries(COMMON_HEADERS).flat(),
  ...['content-type', PROBLEM_TYPE],
  ...['content-length', String(Buffer.byteLength(BODY))],
  ...['retry-after', String(RETRY_AFTER_S)],
];

/**
 * Answers `LEAF_OVERLOADED`, ahead of the framework. At once, but for a connection that asks again against
 * `Retry-After`: ten thousand refusals a second cost a quarter of a core, a connection that waits for its next one costs
 * nothing.
 */
export class OverloadResponder {
  /** When each connection was refused last. */
  private readonly refusedAt = new WeakMap<Socket, number>();
  private readonly held = new WeakSet<Socket>();

  constructor(private readonly clock: Clock) {}

  /** Whether the next refusal on this connection is to wait. One at a time: those behind it wait with it. */
  isHasty(socket: Socket): boolean {
    const refusedAt = this.refusedAt.get(socket) ?? -Infinity;
    return this.clock.monotonic() - refusedAt < RETRY_AFTER_S * 1000 && !this.held.has(socket);
  }

  refuse(response: ServerResponse): void {
    this.refusedAt.set(response.req.socket, this.clock.monotonic());
    response.writeHead(503, HEADERS);
    response.end(BODY);
  }

  async refuseLater(response: ServerResponse): Promise<void> {
    const { socket } = response.req;
    this.held.add(socket);
    await this.clock.sleep(HOLD_MS);
    this.held.delete(socket);
    if (!response.destroyed) this.refuse(response);
  }
}
