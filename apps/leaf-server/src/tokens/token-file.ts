import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Clock } from '@leaf-ids/core';
import { messageOf, Ticker } from '@leaf-ids/core/internal';
import { parseTokens, type TokenKind } from '../config/tokens';
import { readSecret } from '../config/secret-files';
import type { TokenSet } from './token-set';

/** Interval between two checks of the file, in milliseconds. */
const POLL_MS = 5000;

export interface TokenSource {
  /** Name of the variable that names the file, for the log. */
  readonly variable: string;
  /** Purpose of the tokens, for the log. */
  readonly kind: TokenKind;
  /** Undefined: the tokens are not in a file. */
  readonly file: string | undefined;
}

/**
 * Warns of expired tokens, and reads tokens again when the content of their file changes. It polls, because a mounted secret changes through symbolic
 * links, which file events do not follow. If the file cannot be used, the tokens stay unchanged. If it cannot be used at
 * the first reading, no token is valid: a token of the configuration may have been removed since, as in a process that
 * replaces another one.
 */
export class TokenFile implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Tokens');
  private readonly ticker: Ticker;
  /** The content that was last read without a fault. */
  private newest: string | undefined;
  private problem: string | undefined;

  constructor(
    private readonly source: TokenSource,
    private readonly tokens: TokenSet,
    clock: Clock,
  ) {
    const check = (): Promise<void> => {
      if (source.file !== undefined) this.read(source.file);
      return Promise.resolve();
    };
    this.ticker = new Ticker('token-file', check, { everyMs: POLL_MS, atStart: true }, clock);
  }

  onModuleInit(): void {
    this.warnOfExpired();
    if (this.source.file !== undefined) this.ticker.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.ticker.stop();
  }

  /** Returns the names of the expired tokens. */
  private warnOfExpired(): string[] {
    return this.tokens.expired.map(({ name, expiresAt }) => {
      const end = new Date(expiresAt).toISOString();
      this.logger.warn(
        `The ${this.source.kind} token "${name}" expired at ${end} and is refused: replace or remove it.`,
      );
      return name;
    });
  }

  private read(file: string): void {
    const { variable, kind } = this.source;
    try {
      const text = readSecret(file);
      if (text !== this.newest) {
        this.tokens.replace(parseTokens(kind, text));
        if (this.newest !== undefined) {
          const expired = this.warnOfExpired();
          const names = this.tokens.names.filter((name) => !expired.includes(name)).join(', ');
          this.logger.log(`Read the ${kind} tokens in ${file} again; valid are those of ${names || 'nobody'}.`);
        }
        this.newest = text;
      }
      this.problem = undefined;
    } catch (error) {
      const problem = messageOf(error);
      if (problem === this.problem) return;
      this.problem = problem;
      if (this.newest === undefined) this.tokens.replace([]);
      const consequence = this.newest === undefined ? `No ${kind} token is valid` : `The ${kind} tokens stay unchanged`;
      this.logger.error(`${consequence}: ${variable} (${file}) ${problem}.`);
    }
  }
}
