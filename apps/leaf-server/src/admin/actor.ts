import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

/** Who makes a change, and from which address. */
export interface Actor {
  /** The name of the token. */
  readonly name: string;
  readonly address: string;
}

/** A request with a valid admin token. */
export interface AdminRequest extends FastifyRequest {
  actor: Actor;
}

/** The {@link Actor} of the request. Only behind the `AdminGuard`. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  return context.switchToHttp().getRequest<AdminRequest>().actor;
});
