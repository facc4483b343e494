import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { FakeClock } from '@leaf-ids/core/testing';
import type { NamedToken } from '../config/tokens';
import { ClusterTokens, isSignedBy, signJwt } from './cluster-tokens';

const [FIRST, SECOND] = ['first-token-0123456789', 'second-token-0123456789'];
const [OWN, OTHER] = ['10.0.0.7:8080', '10.0.0.8:8080'];
const DRAIN = { method: 'POST', path: '/api/server/drain' };

let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

function tokensOf(own: string, ...tokens: readonly (string | NamedToken)[]): ClusterTokens {
  const named = tokens.map((token, index) => (typeof token === 'string' ? { name: `token-${index}`, token } : token));
  return new ClusterTokens(named, own, clock);
}

describe('ClusterTokens', () => {
  it('accepts a request that another server signed for this one, and tells who gave the command', () => {
    const [one, other] = [tokensOf(OWN, FIRST), tokensOf(OTHER, FIRST)];
    expect(other.verify(one.sign(OTHER, DRAIN)!, DRAIN)).toEqual({});
    expect(other.verify(one.sign(OTHER, DRAIN, 'ops')!, DRAIN)).toEqual({ sub: 'ops' });
  });

  it('accepts no signature for another server, method or path', () => {
    const [one, other] = [tokensOf(OWN, FIRST), tokensOf(OTHER, FIRST)];
    const signed = one.sign(OTHER, DRAIN)!;
    expect(tokensOf('10.0.0.9:8080', FIRST).verify(signed, DRAIN)).toBeUndefined();
    expect(other.verify(signed, { ...DRAIN, method: 'DELETE' })).toBeUndefined();
    expect(other.verify(signed, { ...DRAIN, path: '/api/tags/order/pause' })).toBeUndefined();
    expect(other.verify(signed, { ...DRAIN, path: `${DRAIN.path}?x=1` })).toBeUndefined();
  });

  it.each([1, -1])('accepts a signature for a minute, by clocks that differ in direction %d', (direction) => {
    const signed = tokensOf(OWN, FIRST).sign(OTHER, DRAIN)!;
    const other = tokensOf(OTHER, FIRST);
    clock.step(direction * 60_000);
    expect(other.verify(signed, DRAIN)).toEqual({});
    clock.step(direction * 1000);
    expect(other.verify(signed, DRAIN)).toBeUndefined();
  });

  it('accepts neither the token itself nor anything that it did not sign', () => {
    const other = tokensOf(OTHER, FIRST);
    const signed = tokensOf(OWN, FIRST).sign(OTHER, DRAIN)!;
    const [header, claims, mac] = signed.split('.') as [string, string, string];
    const forged = Buffer.from(JSON.stringify({ aud: OTHER, htm: 'POST', htu: DRAIN.path, iat: 1 })).toString(
      'base64url',
    );
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const wrong = [
      ...[
        FIRST,
        '',
        '.',
        '..',
        header,
        `${header}.${claims}`,
        `${header}.${claims}.`,
        `${header}.${claims}.${'A'.repeat(43)}`,
      ],
      ...[`${header}.${forged}.${mac}`, `${none}.${claims}.`, `${none}.${claims}.${mac}`, `x${signed}`, `${signed}x`],
      tokensOf(OWN, SECOND).sign(OTHER, DRAIN)!,
    ];
    for (const jwt of wrong) expect([jwt, other.verify(jwt, DRAIN)]).toEqual([jwt, undefined]);
  });

  it('accepts no time that is not a number, and no name that is not a text', () => {
    const own = tokensOf(OWN, FIRST);
    const iat = Math.floor(clock.now() / 1000);
    const verify = (claims: object): object | undefined => {
      const key = createHash('sha256').update(FIRST).digest();
      return own.verify(signJwt({ aud: OWN, htm: DRAIN.method, htu: DRAIN.path, ...claims }, key), DRAIN);
    };
    expect(verify({ iat })).toStrictEqual({});
    expect(verify({ iat, sub: 7 })).toStrictEqual({});
    expect([verify({ iat: String(iat) }), verify({})]).toEqual([undefined, undefined]);
  });

  it('signs with the first token that has not expired, and accepts all', async () => {
    const expiresAt = clock.now() + 1000;
    const tokens = tokensOf(OWN, { name: 'old', token: FIRST, expiresAt }, { name: 'new', token: SECOND });
    const [first, second] = [tokensOf(OWN, FIRST), tokensOf(OWN, SECOND)];
    const [old, recent] = [first.sign(OWN, DRAIN)!, second.sign(OWN, DRAIN)!];
    expect(first.verify(tokens.sign(OWN, DRAIN)!, DRAIN)).toEqual({});
    expect([tokens.verify(old, DRAIN), tokens.verify(recent, DRAIN)]).toEqual([{}, {}]);
    await clock.advance(1000);
    expect(second.verify(tokens.sign(OWN, DRAIN)!, DRAIN)).toEqual({});
    expect([tokens.verify(old, DRAIN), tokens.verify(recent, DRAIN)]).toEqual([undefined, {}]);
  });

  it('neither signs with a replaced token nor accepts it', () => {
    const tokens = tokensOf(OWN, FIRST);
    const signed = tokens.sign(OWN, DRAIN)!;
    expect(tokens.canSign).toBe(true);
    tokens.replace([{ name: 'cluster', token: SECOND }]);
    expect(tokens.verify(signed, DRAIN)).toBeUndefined();
    expect(tokensOf(OWN, SECOND).verify(tokens.sign(OWN, DRAIN)!, DRAIN)).toEqual({});
    tokens.replace([]);
    expect([tokens.canSign, tokens.sign(OWN, DRAIN)]).toEqual([false, undefined]);
  });

  it('reveals no token when it is printed, and none in a signature', () => {
    const tokens = tokensOf(OWN, FIRST);
    expect(inspect(tokens, { depth: 9, showHidden: true })).not.toContain(FIRST);
    expect(JSON.stringify(tokens)).not.toContain(FIRST);
    const text = Buffer.from(tokens.sign(OWN, DRAIN)!.split('.')[1]!, 'base64url').toString();
    expect(JSON.parse(text)).toEqual({
      ...{ aud: OWN, htm: 'POST', htu: DRAIN.path },
      iat: Math.floor(clock.now() / 1000),
    });
  });
});

it('signJwt makes the token that openssl makes', () => {
  const key = Buffer.from('key');
  const jwt = signJwt({ sub: '1234567890' }, key);
  expect(jwt).toBe(
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.ZItpUL9y6hwsJCcPtpVPP0DDCElGoVo9PgHthkU0RZg',
  );
  expect([isSignedBy(jwt, key), isSignedBy(jwt, Buffer.from('kez'))]).toEqual([true, false]);
});
