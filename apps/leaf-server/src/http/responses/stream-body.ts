import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { reasonOf } from '@leaf-ids/core/internal';
import type { Clock } from '@leaf-ids/core';
import { textPages } from './html';

/** Time limit for writing chunks in one turn of the event loop, in milliseconds. */
const TURN_MS = 1;

/**
 * The next chunks of all streamed bodies. The number of bodies does not lengthen a turn of the event loop: a slice of
 * time is spent on chunks, and the others wait for the next turn.
 */
export class ChunkQueue {
  private readonly writes: (() => void)[] = [];
  private running = false;

  constructor(private readonly clock: Clock) {}

  /** Calls `write` in a later turn; the order is kept. */
  add(write: () => void): void {
    this.writes.push(write);
    if (this.running) return;
    this.running = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    const end = this.clock.monotonic() + TURN_MS;
    do this.writes.shift()?.();
    while (this.writes.length > 0 && this.clock.monotonic() < end);
    this.running = this.writes.length > 0;
    if (this.running) setImmediate(this.turn);
  };
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Shared by all responses. */
    chunks: ChunkQueue;
  }
}

/**
 * Streams a response body chunk by chunk with backpressure: at most one chunk is buffered, and the event loop serves
 * other requests between chunks.
 *
 * @param pieces ASCII text if `encoding` is `latin1`, which is faster
 */
export function streamBody(reply: FastifyReply, pieces: Iterator<string, void>, encoding: 'utf8' | 'latin1'): void {
  void reply.hijack();
  reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
  writePieces(pieces, reply.raw, encoding, reply.server.chunks);
}

/**
 * Requests each chunk after the previous one is written, and stops when the client disconnects. If a chunk throws, the
 * connection is closed: the status and part of the body are already sent.
 */
export function writePieces(
  pieces: Iterator<string, void>,
  response: ServerResponse,
  encoding: 'utf8' | 'latin1',
  chunks: ChunkQueue,
): void {
  if (response.destroyed) return;
  let piece: IteratorResult<string, void>;
  try {
    piece = pieces.next();
  } catch (error) {
    new Logger('Http').error(`A response was aborted: ${reasonOf(error)}`);
    response.destroy();
    return;
  }
  if (piece.done) {
    response.end();
    return;
  }
  // Not called directly: a socket with buffer space would otherwise keep the event loop busy.
  const next = (): void => chunks.add(() => writePieces(pieces, response, encoding, chunks));
  if (response.write(piece.value, encoding)) next();
  else response.once('drain', next);
}

/** Yields `head`, the comma-separated items in JSON, and `tail`, page by page. Skips items whose view is undefined. */
export function jsonPages<Item>(
  head: string,
  items: Iterable<Item>,
  toView: (item: Item) => object | undefined,
  tail: string,
): Generator<string, void, undefined> {
  const toText = (item: Item): string | undefined => {
    const view = toView(item);
    return view && JSON.stringify(view);
  };
  return textPages(head, items, toText, tail, ',');
}
