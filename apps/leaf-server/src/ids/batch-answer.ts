import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { type IdRange, sizeOf } from '@leaf/core';
import { JSON_TYPE } from '../http/fast.route';
import { batchLength, BatchText, type Label } from './batch-text';

/** Up to so many IDs an answer is one text of some 20 KB. */
const MAX_TEXT_SIZE = 1000;

/**
 * Answers with a batch. Its IDs are taken before the first byte, so that no answer ends half way for want of them; the
 * text of a large one is made piece by piece, at the pace of whoever reads it.
 */
export class BatchAnswer {
  private readonly text = new BatchText();

  send(reply: FastifyReply, label: Label, name: string, ranges: readonly IdRange[]): void {
    const size = ranges.reduce((sum, range) => sum + sizeOf(range), 0);
    if (size <= MAX_TEXT_SIZE) {
      void reply.type(JSON_TYPE).send(this.text.write(label, name, ranges));
      return;
    }
    void reply
      .type(JSON_TYPE)
      .header('content-length', batchLength(label, name, ranges))
      .hijack();
    reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
    writePieces(this.text.pieces(label, name, ranges), reply.raw);
  }
}

/** Makes the next piece when the one before is on its way, and none once the client is gone. */
export function writePieces(pieces: Iterator<string, void>, response: ServerResponse): void {
  while (!response.destroyed) {
    const piece = pieces.next();
    if (piece.done) {
      response.end();
      return;
    }
    if (!response.write(piece.value, 'latin1')) {
      response.once('drain', () => {
        writePieces(pieces, response);
      });
      return;
    }
  }
}
