import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@leaf-ids/core';
import { type AdminToken, makeToken } from '../config/tokens';

interface KnownToken {
  readonly name: string;
  readonly digest: Buffer;
  readonly expiresAt: number;
}

/** The tokens of the admin API, as digests: nothing that is printed of this object opens anything. */
export class AdminTokens {
  private known: readonly KnownToken[] = [];

  /** @param tokens undefined: one is made */
  constructor(
    tokens: readonly AdminToken[] | undefined,
    private readonly clock: Clock,
  ) {
    this.replace(tokens ?? [makeToken()]);
  }

  /** From now on these are valid, and no other. */
  replace(tokens: readonly AdminToken[]): void {
    this.known = tokens.map(({ name, token, expiresAt = Infinity }) => ({ name, digest: digestOf(token), expiresAt }));
  }

  /**
   * The name of the token in an `Authorization` header; undefined when it has none that is valid. Takes the same time
   * whichever token it is like, and however much.
   */
  nameOf(authorization: string | undefined): string | undefined {
    const given = digestOf(/^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '');
    const now = this.clock.now();
    let name: string | undefined;
    for (const token of this.known) {
      const same = timingSafeEqual(token.digest, given);
      if (same && now < token.expiresAt) name = token.name;
    }
    return name;
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
