import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { addressOf } from '../tokens/client-address';
import { FailureLimit } from '../tokens/failure-limit';
import { TokenCheck } from '../tokens/token-check';
import { AdminTokens, bearerOf } from '../tokens/token-set';
import type { AdminRequest } from './actor';

const RULE = {
  needed:
    'This route requires the header "Authorization: Bearer <token>" with a token of LEAF_ADMIN_TOKEN that has not expired.',
  countsMissing: true,
};

/** Admits requests with a valid admin token. */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly check: TokenCheck;

  constructor(
    private readonly tokens: AdminTokens,
    failures: FailureLimit,
  ) {
    this.check = new TokenCheck(RULE, failures);
  }

  /** @throws LeafError `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES` */
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<AdminRequest>();
    const { name } = this.check.require(request, http.getResponse<FastifyReply>(), (authorization) =>
      this.tokens.find(bearerOf(authorization)),
    );
    request.actor = { name, address: addressOf(request) };
    return true;
  }
}
