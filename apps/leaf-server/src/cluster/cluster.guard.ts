import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '@leaf-ids/core';
import { ClusterTokens } from '../tokens/cluster-tokens';
import { FailureLimit, TokenCheck, TokenGuard } from '../tokens/token-check';
import { bearerOf } from '../tokens/token-set';

const RULE = {
  needed:
    'This route is for other servers of the cluster. It requires the header "Authorization: Bearer <JWT>" with a JWT that was signed for this request to this server, with the same LEAF_CLUSTER_TOKEN, within the last minute.',
  countsMissing: true,
};

/** Admits requests that another server signed. */
@Injectable()
export class ClusterGuard extends TokenGuard {
  private readonly check: TokenCheck;

  constructor(
    private readonly tokens: ClusterTokens,
    clock: Clock,
  ) {
    super();
    this.check = new TokenCheck(RULE, new FailureLimit(clock));
  }

  /** @throws LeafError `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES` */
  override admit(request: FastifyRequest, reply: FastifyReply): void {
    const { method, url: path } = request;
    this.check.require(request, reply, (authorization) =>
      this.tokens.verify(bearerOf(authorization), { method, path }),
    );
  }
}
