import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A guard whose decision needs only the headers, so that the server can ask it before it reads the body. */
export abstract class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    this.admit(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
    return true;
  }

  /** @throws LeafError if the request has no valid token */
  abstract admit(request: FastifyRequest, reply: FastifyReply): void;
}
