import type { FastifyRequest } from 'fastify';
import { plainAddress } from './client-network';

/** The client's address: of the connection, or as a trusted proxy names it. */
export function addressOf(request: FastifyRequest): string {
  return plainAddress(request.ip);
}
