import { type CanActivate, type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock, LeafError } from '@leaf-ids/core';
import { addressOf, networkOf } from './client-network';

/** Failures of one client within a window before it has to wait. */
const MAX_FAILURES = 10;
/** Time in which failures of a client are counted, in milliseconds. */
const WINDOW_MS = 60_000;
/** Client networks in memory; beyond that the oldest is dropped. */
const MAX_NETWORKS = 10_000;

interface Window {
  failures: number;
  /** Monotonic. */
  readonly endsAt: number;
}

/** Counts failures by client network, each in a window of a minute from its first failure. */
@Injectable()
export class FailureLimit {
  /** Oldest first: all windows are of one length. */
  private readonly windows = new Map<string, Window>();

  constructor(private readonly clock: Clock) {}

  /** Counts a failure of the client. Returns how many milliseconds it has to wait; 0 if the failure is within the limit. */
  fail(address: string): number {
    const now = this.clock.monotonic();
    const window = this.current(networkOf(address), now);
    if (window.failures === MAX_FAILURES) return window.endsAt - now;
    window.failures++;
    return 0;
  }

  private current(network: string, now: number): Window {
    const running = this.windows.get(network);
    if (running !== undefined && now < running.endsAt) return running;
    this.windows.delete(network);
    for (const [oldest, { endsAt }] of this.windows) {
      if (now < endsAt && this.windows.size < MAX_NETWORKS) break;
      this.windows.delete(oldest);
    }
    const window = { failures: 0, endsAt: now + WINDOW_MS };
    this.windows.set(network, window);
    return window;
  }
}

/** A guard whose decision needs only the headers, so that the server can ask it before it reads the body. */
export abstract class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    this.admit(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
    return true;
  }

  /** @throws LeafError if the request has no valid token */
  abstract admit(request: FastifyRequest, reply: FastifyReply): void;
}

const CHALLENGE = 'Bearer realm="leaf"';

interface TokenRule {
  /** The next step for a caller without a valid token. */
  readonly needed: string;
  /** Whether a request without `Authorization` counts as a failure. */
  readonly countsMissing: boolean;
}

interface TokenAttempt {
  /** Address of the client. */
  readonly address: string;
  /** The route or the command, for the log. */
  readonly action: string;
  /** The header or command that contains the token; undefined without one. */
  readonly given: string | undefined;
  /** Whether a page of another site caused the request in the browser of somebody who knows nothing of it. */
  readonly isCrossSite?: boolean;
}

/**
 * Requires a valid token of a request. A valid one is always accepted: tokens are too long to be guessed, and a program
 * with a wrong token must not stop others behind the same address. A client that fails too often is told to wait.
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
   * @throws LeafError `LEAF_UNAUTHORIZED` if that is undefined; `LEAF_TOO_MANY_FAILURES` if the client failed too often
   */
  require<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    find: (authorization: string | undefined) => T | undefined,
  ): T {
    const {
      method,
      routeOptions: { url = 'unknown route' },
      headers: { authorization, 'sec-fetch-site': site = 'none' },
    } = request;
    const isCrossSite = site === 'cross-site' || site === 'same-site';
    const attempt = { address: addressOf(request), action: `${method} ${url}`, given: authorization, isCrossSite };
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
  requireOf<T>(attempt: TokenAttempt, find: (given: string | undefined) => T | undefined, onRefused?: () => void): T {
    const found = find(attempt.given);
    if (found !== undefined) return found;
    if (this.isFailure(attempt)) this.countFailure(attempt);
    onRefused?.();
    throw this.refusal();
  }

  /** The error for a caller without a valid token. */
  refusal(): LeafError {
    return new LeafError('LEAF_UNAUTHORIZED', this.rule.needed);
  }

  /** A browser sends no token of its own accord: a request that another site causes guesses nothing. */
  private isFailure({ given, isCrossSite = false }: TokenAttempt): boolean {
    return given !== undefined || (this.rule.countsMissing && !isCrossSite);
  }

  /** @throws LeafError `LEAF_TOO_MANY_FAILURES` */
  private countFailure({ address, action }: TokenAttempt): void {
    const retryAfterMs = this.failures.fail(address);
    if (retryAfterMs > 0) {
      throw new LeafError(
        'LEAF_TOO_MANY_FAILURES',
        'This address sent too many requests without a valid token. Correct the token, or wait for the rest of the minute; a valid token is accepted at any time.',
        { retryAfterMs },
      );
    }
    this.logger.warn(`Refused: ${action} from ${address} without a valid token.`);
  }
}
