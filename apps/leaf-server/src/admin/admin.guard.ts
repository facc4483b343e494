import { type CanActivate, type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { addressOf, type AdminRequest } from './actor';
import { AdminTokens } from '../tokens/token-set';
import { FailureLimit } from '../tokens/failure-limit';

const CHALLENGE = 'Bearer realm="leaf"';

/**
 * Lets requests pass that carry a valid token. A client with too many failures has to wait: until then none of its
 * tokens is compared, so that the limit bounds how many a client can guess.
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
    const address = addressOf(request);
    const waitMs = this.failures.waitMs(address);
    if (waitMs > 0) {
      throw new LeafError(
        'LEAF_TOO_MANY_FAILURES',
        'Too many requests without a valid token came from this address. Wait for the rest of the minute; until then no token is checked.',
        { retryAfterMs: waitMs },
      );
    }
    const name = this.tokens.nameOf(request.headers.authorization);
    if (name !== undefined) {
      request.actor = { name, address };
      return true;
    }
    this.failures.count(address);
    throw this.refusal(request, http.getResponse<FastifyReply>());
  }

  private refusal(request: AdminRequest, reply: FastifyReply): LeafError {
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
