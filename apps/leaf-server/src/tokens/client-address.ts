import type { FastifyRequest } from 'fastify';
import { unmapped } from './client-network';

/** The client's address: of the connection, or as a trusted proxy names it. */
export function addressOf(request: FastifyRequest): string {
  // Undefined once the connection is closed.
  const address = request.ip as string | undefined;
  return unmapped(address ?? 'unknown');
}
