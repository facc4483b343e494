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

export interface TokenAttempt {
  /** Of the client. */
  readonly address: string;
  /** The route or the command, for the log. */
  readonly action: string;
  /** What contains the token; undefined if there is none. */
  readonly given: string | undefined;
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
    const {
      method,
      routeOptions: { url = 'unknown route' },
      headers: { authorization },
    } = request;
    const attempt = { address: addressOf(request), action: `${method} ${url}`, given: authorization };
    return this.requireOf(attempt, find, () => {
      void reply.header(
        'www-authenticate',
        authorization === undefined ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`,
      );
    });
  }

  /**
   * As {@link require}, for any protocol.
   *
   * @param onRefused called before `LEAF_UNAUTHORIZED` is thrown
   */
  requireOf<T>(
    { address, action, given }: TokenAttempt,
    find: (given: string | undefined) => T | undefined,
    onRefused?: () => void,
  ): T {
    const waitMs = this.failures.waitMs(address);
    if (waitMs > 0) {
      throw new LeafError(
        'LEAF_TOO_MANY_FAILURES',
        'This address sent too many requests without a valid token. Wait for the rest of the minute; until then no token is checked.',
        { retryAfterMs: waitMs },
      );
    }
    const found = find(given);
    if (found !== undefined) return found;
    if (given !== undefined || this.rule.countsMissing) {
      this.failures.count(address);
      this.logger.warn(`Refused: ${action} from ${address} without a valid token.`);
    }
    onRefused?.();
    throw this.refusal();
  }

  /** The error for a caller without a valid token. */
  refusal(): LeafError {
    return new LeafError('LEAF_UNAUTHORIZED', this.rule.needed);
  }
}
