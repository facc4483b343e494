import { LeafError, MAX_ID } from '@leaf-ids/core';
import type { FastifyReply } from 'fastify';
import { JSON_TYPE, TEXT_TYPE } from '../http/fast-path';
import { jsonId, type JsonIds, prefersJson } from '../http/java-requests';

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
  const isJson = prefersJson(reply.request.raw);
  void reply.type(isJson ? JSON_TYPE : TEXT_TYPE);
  return isJson ? jsonId(id, jsonIds) : id;
}
