import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { reasonOf } from '@leaf-ids/core';

/**
 * Answers with a text that is made piece by piece, at the pace of whoever reads it: no answer holds more than a piece,
 * and requests have their turn in between.
 *
 * @param pieces of ASCII when `encoding` is `latin1`, which is quicker
 */
export function streamBody(reply: FastifyReply, pieces: Iterator<string, void>, encoding: 'utf8' | 'latin1'): void {
  void reply.hijack();
  reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
  writePieces(pieces, reply.raw, encoding);
}

/**
 * Makes the next piece when the one before is on its way, and none once the client is gone. Nobody above could catch what
 * a later piece throws: the answer ends there, unfinished.
 */
export function writePieces(
  pieces: Iterator<string, void>,
  response: ServerResponse,
  encoding: 'utf8' | 'latin1',
): void {
  if (response.destroyed) return;
  let piece: IteratorResult<string, void>;
  try {
    piece = pieces.next();
  } catch (error) {
    new Logger('Http').error(`An answer ends half way: ${reasonOf(error)}`);
    response.destroy();
    return;
  }
  if (piece.done) {
    response.end();
    return;
  }
  // A socket that takes a piece at once says so before the event loop turns.
  const goOn = (): unknown => setImmediate(writePieces, pieces, response, encoding);
  if (response.write(piece.value, encoding)) goOn();
  else response.once('drain', goOn);
}
