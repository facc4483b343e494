import { type IdRange, LeafError, MAX_ID, sizeOf } from '@leaf-ids/core';
import type { FastifyReply } from 'fastify';
import { NONCE_HEADER } from '@leaf-ids/core/internal';
import { JSON_TYPE, TEXT_TYPE } from '../http/fast-path';
import { jsonId, type JsonIds, prefersJson } from '../http/java-requests';
import { streamBody } from '../http/responses/stream-body';
import { batchLength, BatchText, type Label } from '../http/responses/batch-text';

/** IDs in a response that is written as one string: about 20 KB. */
const MAX_TEXT_SIZE = 1000;

/**
 * Sends a batch. All its IDs are allocated before the first byte, because an error cannot follow a partial body. Large
 * batches are sent in chunks.
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

/**
 * Parses a decimal ID.
 *
 * @throws LeafError `LEAF_ID_INVALID`
 */
export function parseId(given: unknown): bigint {
  if (typeof given === 'string' && /^\d{1,19}$/.test(given)) {
    const id = BigInt(given);
    if (id <= MAX_ID) return id;
  }
  throw new LeafError('LEAF_ID_INVALID', `The ID must be one decimal number from 0 to ${MAX_ID}.`);
}

/** Sets the type of a response with one ID, text unless the client prefers JSON, and returns its body. */
export function oneId(id: string, reply: FastifyReply, jsonIds: JsonIds): string {
  const isJson = prefersJson(reply.request.raw.rawHeaders);
  void reply.type(isJson ? JSON_TYPE : TEXT_TYPE);
  return isJson ? jsonId(id, jsonIds) : id;
}
