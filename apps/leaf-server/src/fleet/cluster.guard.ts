import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '@leaf-ids/core';
import { ClusterTokens } from '../tokens/cluster-tokens';
import { FailureLimit } from '../tokens/failure-limit';
import { TokenCheck } from '../tokens/token-check';
import { bearerOf } from '../tokens/token-set';

const RULE = {
  needed: 'This route requires the header "Authorization: Bearer <token>" with a valid token of LEAF_CLUSTER_TOKEN.',
  countsMissing: true,
};

/** Admits requests of other servers. A wrong token does not count against the admin tokens of the same address. */
@Injectable()
export class ClusterGuard implements CanActivate {
  private readonly check: TokenCheck;

  constructor(
    private readonly tokens: ClusterTokens,
    clock: Clock,
  ) {
    this.check = new TokenCheck(RULE, new FailureLimit(clock));
  }

  /** @throws LeafError `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES` */
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    this.check.require(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), (authorization) =>
      this.tokens.find(bearerOf(authorization)),
    );
    return true;
  }
}
