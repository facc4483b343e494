import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { TOKEN_NAME } from '../config/tokens';
import { addressOf } from '../tokens/client-address';
import { ClusterTokens } from '../tokens/cluster-tokens';
import { FailureLimit } from '../tokens/failure-limit';
import { TokenCheck } from '../tokens/token-check';
import { AdminTokens, bearerOf } from '../tokens/token-set';
import type { AdminRequest } from './actor';
import { ClusterOrder, ORDERED_BY } from './cluster-order';

const RULE = {
  needed:
    'This route requires the header "Authorization: Bearer <token>" with a token of LEAF_ADMIN_TOKEN that has not expired.',
  countsMissing: true,
};

/** Admits requests with a valid admin token; orders of the cluster, also with a cluster token. */
@Injectable()
export class AdminGuard implements CanActivate {
  private readonly check: TokenCheck;

  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: AdminTokens,
    private readonly cluster: ClusterTokens,
    failures: FailureLimit,
  ) {
    this.check = new TokenCheck(RULE, failures);
  }

  /** @throws LeafError `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES` */
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<AdminRequest>();
    const isOrder = this.reflector.get<true | undefined>(ClusterOrder.KEY, context.getHandler()) === true;
    const name = this.check.require(request, http.getResponse<FastifyReply>(), (authorization) => {
      const token = bearerOf(authorization);
      return this.tokens.find(token)?.name ?? (isOrder && this.cluster.find(token) ? orderedBy(request) : undefined);
    });
    request.actor = { name, address: addressOf(request) };
    return true;
  }
}

/** For the audit. No admin token can have this name. */
function orderedBy({ headers: { [ORDERED_BY]: name } }: AdminRequest): string {
  return typeof name === 'string' && TOKEN_NAME.test(name) ? `cluster:${name}` : 'cluster:unknown';
}
