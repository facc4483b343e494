import type { FastifyReply } from 'fastify';
import { type IdRange, NONCE_HEADER, sizeOf } from '@leaf-ids/core';
import { JSON_TYPE } from '../http/fast-path';
import { streamBody } from '../http/responses/stream-body';
import { batchLength, BatchText, type Label } from '../http/responses/batch-text';

/** Up to so many IDs an answer is one text of some 20 KB. */
const MAX_TEXT_SIZE = 1000;

/**
 * Answers with a batch. Its IDs are taken before the first byte, so that no answer ends half way for want of them; the
 * text of a large one is made piece by piece.
 */
export class BatchAnswer {
  private readonly text = new BatchText();

  send(reply: FastifyReply, nonce: string, label: Label, name: string, ranges: readonly IdRange[]): void {
    const size = ranges.reduce((sum, range) => sum + sizeOf(range), 0);
    void reply.type(JSON_TYPE).header(NONCE_HEADER, nonce);
    if (size <= MAX_TEXT_SIZE) {
      void reply.send(this.text.write(label, name, ranges));
      return;
    }
    void reply.header('content-length', batchLength(label, name, ranges));
    streamBody(reply, this.text.pieces(label, name, ranges), 'latin1');
  }
}
