import type { FastifyReply } from 'fastify';
import { JSON_TYPE, TEXT_TYPE } from '../http/fast-path';
import { jsonId, type JsonIds, prefersJson } from '../http/java-requests';

/** Sets the type of a response with one ID, text unless the client prefers JSON, and returns its body. */
export function oneId(id: string, reply: FastifyReply, jsonIds: JsonIds): string {
  const isJson = prefersJson(reply.request.raw);
  void reply.type(isJson ? JSON_TYPE : TEXT_TYPE);
  return isJson ? jsonId(id, jsonIds) : id;
}
