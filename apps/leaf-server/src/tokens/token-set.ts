import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@leaf-ids/core';
import type { NamedToken } from '../config/tokens';

/** A token that is or was valid, as a digest. */
export interface KnownToken {
  readonly name: string;
  readonly digest: Buffer;
  /** Unix milliseconds. */
  expiresAt: number;
  /** Set when {@link TokenSet.replace} removes the token. */
  revoked: boolean;
}

/** Named tokens, stored as digests only, so that printing this object reveals none. */
export class TokenSet {
  private known: readonly KnownToken[] = [];

  constructor(
    tokens: readonly NamedToken[],
    protected readonly clock: Clock,
  ) {
    this.known = knownOf(tokens);
  }

  get names(): readonly string[] {
    return this.known.map(({ name }) => name);
  }

  /** The tokens whose time has passed. */
  get expired(): readonly KnownToken[] {
    return this.known.filter((token) => !this.isValid(token));
  }

  /** Makes these tokens valid, and revokes all others. One that stays valid is the same {@link KnownToken} as before. */
  replace(tokens: readonly NamedToken[]): void {
    const before = this.known;
    this.known = knownOf(tokens).map((next) => {
      const same = before.find(({ name, digest }) => name === next.name && digest.equals(next.digest));
      return same === undefined ? next : Object.assign(same, { expiresAt: next.expiresAt });
    });
    for (const token of before) token.revoked = !this.known.includes(token);
  }

  /** Whether a token that {@link find} returned is still valid. */
  isValid({ revoked, expiresAt }: KnownToken): boolean {
    return !revoked && (expiresAt === Infinity || this.clock.now() < expiresAt);
  }

  /** The valid token with this text. Compares all digests, so that the duration does not depend on the text. */
  find(text: string): KnownToken | undefined {
    const given = digestOf(text);
    return this.match(({ digest }) => timingSafeEqual(digest, given));
  }

  /** The first token that is valid. */
  protected get first(): KnownToken | undefined {
    return this.known.find((token) => this.isValid(token));
  }

  /** The valid token that matches. Checks every token, so that the duration does not depend on which one matches. */
  protected match(matches: (token: KnownToken) => boolean): KnownToken | undefined {
    let found: KnownToken | undefined;
    for (const token of this.known) if (matches(token) && this.isValid(token)) found = token;
    return found;
  }
}

/** The tokens of the admin API. */
export class AdminTokens extends TokenSet {}

/** The token of an `Authorization: Bearer` header; empty if there is none. */
export function bearerOf(authorization: string | undefined): string {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
}

/** The password of an `Authorization: Basic` header; empty if there is none. */
export function passwordOf(authorization: string | undefined): string {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization ?? '')?.[1] ?? '';
  const credentials = Buffer.from(encoded, 'base64').toString('latin1');
  return credentials.slice(credentials.indexOf(':') + 1);
}

function knownOf(tokens: readonly NamedToken[]): KnownToken[] {
  return tokens.map(({ name, token, expiresAt = Infinity }) => ({
    name,
    digest: digestOf(token),
    expiresAt,
    revoked: false,
  }));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
