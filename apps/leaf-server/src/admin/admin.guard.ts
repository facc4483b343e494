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
import { ClusterOrder } from './cluster-order';

const RULE = {
  needed:
    'This route requires the header "Authorization: Bearer <token>" with a token of LEAF_ADMIN_TOKEN that has not expired.',
  countsMissing: true,
};

/** Admits requests with a valid admin token; orders of the cluster, also those that a cluster token signs. */
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
    const name =
      (isOrder ? this.orderedBy(request) : undefined) ??
      this.check.require(request, http.getResponse<FastifyReply>(), (authorization) => {
        return this.tokens.find(bearerOf(authorization))?.name;
      });
    request.actor = { name, address: addressOf(request) };
    return true;
  }

  /** For the audit; undefined if no other server signed the request. No admin token can have this name. */
  private orderedBy({ method, url: path, headers: { authorization } }: AdminRequest): string | undefined {
    const claims = this.cluster.verify(bearerOf(authorization), { method, path });
    return claims && `cluster:${TOKEN_NAME.test(claims.sub ?? '') ? claims.sub : 'unknown'}`;
  }
}
