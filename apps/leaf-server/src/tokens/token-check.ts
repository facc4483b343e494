import { Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { addressOf } from './client-address';
import type { FailureLimit } from './failure-limit';

const CHALLENGE = 'Bearer realm="leaf"';

export interface TokenRule {
  /** What a caller without a valid token has to do. */
  readonly needed: string;
  /** Whether a request without `Authorization` counts as a failure. */
  readonly countsMissing: boolean;
}

/**
 * Requires a valid token of a request. After too many failures, no token of the client is compared until its minute has
 * passed: this limits how many tokens it can guess.
 */
export class TokenCheck {
  private readonly logger = new Logger('Audit');

  constructor(
    private readonly rule: TokenRule,
    private readonly failures: FailureLimit,
  ) {}

  /**
   * Returns what `find` returns for the `Authorization` header.
   *
   * @throws LeafError `LEAF_UNAUTHORIZED` if that is undefined; `LEAF_TOO_MANY_FAILURES`
   */
  require<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    find: (authorization: string | undefined) => T | undefined,
  ): T {
    const address = addressOf(request);
    const waitMs = this.failures.waitMs(address);
    if (waitMs > 0) {
      throw new LeafError(
        'LEAF_TOO_MANY_FAILURES',
        'This address sent too many requests without a valid token. Wait for the rest of the minute; until then no token is checked.',
        { retryAfterMs: waitMs },
      );
    }
    const { authorization } = request.headers;
    const found = find(authorization);
    if (found !== undefined) return found;
    if (authorization !== undefined || this.rule.countsMissing) this.count(request, address);
    void reply.header(
      'www-authenticate',
      authorization === undefined ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`,
    );
    throw new LeafError('LEAF_UNAUTHORIZED', this.rule.needed);
  }

  private count({ method, routeOptions }: FastifyRequest, address: string): void {
    this.failures.count(address);
    const { url = 'unknown route' } = routeOptions;
    this.logger.warn(`Refused: ${method} ${url} from ${address} without a valid token.`);
  }
}
