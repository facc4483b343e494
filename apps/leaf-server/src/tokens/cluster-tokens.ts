import type { Clock } from '@leaf-ids/core';
import type { NamedToken } from '../config/tokens';
import { TokenSet } from './token-set';

/** The tokens with which the servers of a cluster ask each other. All are accepted; the first one that is valid is sent. */
export class ClusterTokens extends TokenSet {
  /** Not enumerable, so that printing this object reveals none. */
  #tokens: readonly NamedToken[];

  constructor(tokens: readonly NamedToken[], clock: Clock) {
    super(tokens, clock);
    this.#tokens = tokens;
  }

  override replace(tokens: readonly NamedToken[]): void {
    super.replace(tokens);
    this.#tokens = tokens;
  }

  /** The token to send; undefined if there is none, or all have expired. */
  get toSend(): string | undefined {
    const now = this.clock.now();
    return this.#tokens.find(({ expiresAt = Infinity }) => now < expiresAt)?.token;
  }
}
