import { applyDecorators, Injectable, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RouteConfig } from '@nestjs/platform-fastify';
import { TOKEN_NAME } from '../config/tokens';
import { addressOf } from '../tokens/client-network';
import { ClusterTokens } from '../tokens/cluster-tokens';
import { FailureLimit, TokenCheck, TokenGuard } from '../tokens/token-check';
import { AdminTokens, bearerOf } from '../tokens/token-set';
import { ApiBearerAuth } from '../openapi/decorators';
import type { AdminRequest } from './audit';

const RULE = {
  needed:
    'This route requires the header "Authorization: Bearer <token>" with a token of LEAF_ADMIN_TOKEN that has not expired.',
  countsMissing: true,
};

/** Admits requests with a valid admin token; commands to the cluster, also those that a cluster token signs. */
@Injectable()
export class AdminGuard extends TokenGuard {
  private readonly check: TokenCheck;

  constructor(
    private readonly tokens: AdminTokens,
    private readonly cluster: ClusterTokens,
    failures: FailureLimit,
  ) {
    super();
    this.check = new TokenCheck(RULE, failures);
  }

  /** @throws LeafError `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES` */
  override admit(request: FastifyRequest, reply: FastifyReply): void {
    const name = this.check.require(request, reply, (authorization) => {
      const signer = isClusterCommand(request) ? this.signerOf(request) : undefined;
      return signer ?? this.tokens.find(bearerOf(authorization))?.name;
    });
    (request as AdminRequest).actor = { name, address: addressOf(request) };
  }

  /** The name for the audit; undefined if no other server signed the request. No admin token can have this name. */
  private signerOf({ method, url: path, headers: { authorization } }: FastifyRequest): string | undefined {
    const claims = this.cluster.verify(bearerOf(authorization), { method, path });
    return claims && `cluster:${TOKEN_NAME.test(claims.sub ?? '') ? claims.sub : 'unknown'}`;
  }
}

/** Every route of the controller needs a token, and the API document says so. */
export function AdminOnly(): ClassDecorator {
  return applyDecorators(UseGuards(AdminGuard), ApiBearerAuth());
}

interface CommandConfig {
  readonly isClusterCommand?: true;
}

/** The route also accepts requests that a cluster token signs: other servers pass commands on to it. */
export function ClusterCommand(): MethodDecorator {
  return RouteConfig({ isClusterCommand: true } satisfies CommandConfig);
}

/** Whether the route of the request is a {@link ClusterCommand}. */
function isClusterCommand({ routeOptions: { config } }: FastifyRequest): boolean {
  return (config as CommandConfig).isClusterCommand === true;
}
