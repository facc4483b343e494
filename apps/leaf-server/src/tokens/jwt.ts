import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseObject } from '@leaf-ids/core/internal';

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
  const expected = macOf(jwt.slice(0, Math.max(0, end)), key);
  return given.length === expected.length && timingSafeEqual(given, expected) && jwt.startsWith(`${HEADER}.`);
}

/** The claims of a token whose signature was checked. */
export function claimsOf(jwt: string): Readonly<Record<string, unknown>> {
  return parseObject(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
}

function macOf(signed: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(signed).digest();
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
