import { type CanActivate, type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { addressOf, type AdminRequest } from './actor';
import { AdminTokens } from './admin-tokens';
import { FailureLimit } from './failure-limit';

const CHALLENGE = 'Bearer realm="leaf"';

/**
 * Lets requests pass that carry a valid token. Failures are counted by address, and a valid token passes all the same:
 * an operator is not locked out by whoever else sits behind the same proxy.
 */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly logger = new Logger('Audit');

  constructor(
    private readonly tokens: AdminTokens,
    private readonly failures: FailureLimit,
  ) {}

  /** @throws LeafError `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES` */
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<AdminRequest>();
    const { authorization } = request.headers;
    const name = this.tokens.nameOf(authorization);
    if (name !== undefined) {
      request.actor = { name, address: addressOf(request) };
      return true;
    }
    throw this.refusal(request, http.getResponse<FastifyReply>());
  }

  private refusal(request: AdminRequest, reply: FastifyReply): LeafError {
    const waitMs = this.failures.count(addressOf(request));
    if (waitMs > 0) {
      return new LeafError(
        'LEAF_TOO_MANY_FAILURES',
        'Too many requests without a valid token came from this address. Wait for the rest of the minute; a valid token passes at any time.',
        { retryAfterMs: waitMs },
      );
    }
    const { url = 'unknown route' } = request.routeOptions;
    this.logger.warn(`Refused: ${request.method} ${url} from ${addressOf(request)} without a valid token.`);
    const invalid = request.headers.authorization === undefined ? '' : ', error="invalid_token"';
    void reply.header('www-authenticate', CHALLENGE + invalid);
    return new LeafError(
      'LEAF_UNAUTHORIZED',
      'This needs the header "Authorization: Bearer <token>" with a token of LEAF_ADMIN_TOKEN that has not expired.',
    );
  }
}
