import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { unmapped } from '../http/client-address';

/** Who makes a change, and from where. */
export interface Actor {
  /** The name of the token. */
  readonly name: string;
  readonly address: string;
}

/** A request on an admin route, once its token was found valid. */
export interface AdminRequest extends FastifyRequest {
  actor: Actor;
}

/** The client's address: of the connection, or as a trusted proxy names it. */
export function addressOf(request: FastifyRequest): string {
  return unmapped(request.ip);
}

/** The {@link Actor} of the request. Only behind the `AdminGuard`. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  return context.switchToHttp().getRequest<AdminRequest>().actor;
});
