import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Clock } from '@leaf/core';
import { type AdminToken, DEFAULT_TOKEN_NAME } from '../config/admin-token';

const TOKEN_BYTES = 24;

interface KnownToken {
  readonly name: string;
  readonly digest: Buffer;
  readonly expiresAt: number;
}

/** The tokens of the admin API, as digests: nothing that is printed of this object opens anything. */
export class AdminTokens {
  private readonly known: readonly KnownToken[];

  /** @param tokens undefined: one is made */
  constructor(
    tokens: readonly AdminToken[] | undefined,
    private readonly clock: Clock,
  ) {
    this.known = (tokens ?? [makeToken()]).map(({ name, token, expiresAt = Infinity }) => ({
      name,
      digest: digestOf(token),
      expiresAt,
    }));
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

/** Of a server that was given none; it is told in the log, once. */
export function makeToken(): AdminToken {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  new Logger('Admin').log(`LEAF_ADMIN_TOKEN is not set; the token of the admin API until this server stops: ${token}`);
  return { name: DEFAULT_TOKEN_NAME, token };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
