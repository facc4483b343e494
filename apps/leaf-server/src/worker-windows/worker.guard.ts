import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { Leaf } from '@leaf-ids/id';
import { policyOf, STRATEGY_NAMES } from '@leaf-ids/registry';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { FailureLimit, TokenCheck, TokenGuard } from '../tokens/token-check';
import { AdminTokens, bearerOf, TokenSet } from '../tokens/token-set';

/** The tokens of processes that acquire worker IDs. */
export class WorkerTokens extends TokenSet {}

const POOLS = STRATEGY_NAMES.filter((name) => policyOf(name) === 'pool').join(', ');

const RULE = {
  needed:
    'Worker IDs require the header "Authorization: Bearer <token>" with a token of LEAF_WORKER_TOKENS that has not expired.',
  countsMissing: true,
};

/** Admits requests with a valid worker token; those that only read, also with an admin token. */
@Injectable()
export class WorkerGuard extends TokenGuard {
  private readonly check: TokenCheck;

  constructor(
    @Inject(LEAF_CONFIG) private readonly config: LeafConfig,
    private readonly leaf: Leaf,
    private readonly workers: WorkerTokens,
    private readonly admins: AdminTokens,
    failures: FailureLimit,
  ) {
    super();
    this.check = new TokenCheck(RULE, failures);
  }

  /** @throws LeafError `LEAF_WINDOWS_DISABLED`, `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES` */
  override admit(request: FastifyRequest, reply: FastifyReply): void {
    this.assertEnabled();
    this.check.require(request, reply, (authorization) => {
      const token = bearerOf(authorization);
      return this.workers.find(token) ?? (request.method === 'GET' ? this.admins.find(token) : undefined);
    });
  }

  private assertEnabled(): void {
    const windows = this.leaf.snowflake?.windows;
    if (this.config.workers === undefined)
      throw disabled('LEAF_WORKER_TOKENS is not set. Set it to give worker IDs to other processes');
    if (windows === undefined) throw disabled('snowflake mode is off. Set LEAF_SNOWFLAKE_ENABLED=true');
    if (!windows.supported) {
      throw disabled(
        `the worker registry of this server is not a pool. Set LEAF_SNOWFLAKE_REGISTRY to one of ${POOLS} on all servers`,
      );
    }
  }
}

function disabled(reason: string): LeafError {
  return new LeafError('LEAF_WINDOWS_DISABLED', `This server gives no worker IDs to other processes: ${reason}.`);
}
