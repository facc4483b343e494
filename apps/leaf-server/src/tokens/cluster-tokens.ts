import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@leaf-ids/core';
import { parseObject } from '@leaf-ids/core/internal';
import type { NamedToken } from '../config/tokens';
import { TokenSet } from './token-set';

/** The only header that is accepted. */
const HEADER = encode({ alg: 'HS256', typ: 'JWT' });

/** A JSON Web Token (RFC 7519) with HMAC-SHA256. */
export function signJwt(claims: object, key: Buffer): string {
  const signed = `${HEADER}.${encode(claims)}`;
  return `${signed}.${macOf(signed, key).toString('base64url')}`;
}

/** Whether {@link signJwt} made the token with this key. */
export function isSignedBy(jwt: string, key: Buffer): boolean {
  const end = jwt.lastIndexOf('.');
  const given = Buffer.from(jwt.slice(end + 1), 'base64url');
  const expected = macOf(jwt.slice(0, end), key);
  return given.length === expected.length && timingSafeEqual(given, expected) && jwt.startsWith(`${HEADER}.`);
}

/** The claims of a token whose signature was checked. */
function claimsOf(jwt: string): Readonly<Record<string, unknown>> {
  return parseObject(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
}

function macOf(signed: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(signed).digest();
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Maximum difference between the time of a signature and the clock of the server that checks it, in milliseconds. */
const WINDOW_MS = 60_000;

/** A request of one server to another one. */
export interface PeerRequest {
  readonly method: string;
  readonly path: string;
}

/** The claims of a signed request; `htm` and `htu` as in RFC 9449, without the origin. */
interface Claims {
  /** `ip:port` of the server that may accept it. */
  readonly aud: string;
  readonly htm: string;
  readonly htu: string;
  /** Unix seconds. */
  readonly iat: number;
  /** Name of the operator who gave the command. */
  readonly sub?: string | undefined;
}

/**
 * The tokens with which the servers of a cluster sign requests to each other. They are never sent: a request carries a
 * JWT for this request to one server, which no other server accepts. The first token that is valid signs, and all are
 * accepted.
 */
export class ClusterTokens extends TokenSet {
  /** @param own `ip:port` of this server */
  constructor(
    tokens: readonly NamedToken[],
    private readonly own: string,
    clock: Clock,
  ) {
    super(tokens, clock);
  }

  /** Whether there is a token that has not expired. */
  get canSign(): boolean {
    return this.first !== undefined;
  }

  /**
   * The JWT for a request to the server `ip:port`; undefined without a valid token.
   *
   * @param by who gave the command
   */
  sign(server: string, { method, path }: PeerRequest, by?: string): string | undefined {
    const token = this.first;
    if (token === undefined) return undefined;
    const iat = Math.floor(this.clock.now() / 1000);
    const claims: Claims = { aud: server, htm: method, htu: path, iat, sub: by };
    return signJwt(claims, token.digest);
  }

  /** The claims of a valid JWT for this request to this server; undefined for any other text. */
  verify(jwt: string, { method, path }: PeerRequest): Pick<Claims, 'sub'> | undefined {
    if (this.match(({ digest }) => isSignedBy(jwt, digest)) === undefined) return undefined;
    const { aud, htm, htu, iat, sub } = claimsOf(jwt);
    const isRecent = typeof iat === 'number' && Math.abs(this.clock.now() - iat * 1000) <= WINDOW_MS;
    if (aud !== this.own || htm !== method || htu !== path || !isRecent) return undefined;
    return typeof sub === 'string' ? { sub } : {};
  }
}
