import { Logger } from '@nestjs/common';
import { makeToken, parseTokens } from './tokens';

const ONE = '0123456789abcdef';
const TWO = 'ABCDEFGHIJKLMNOP';

describe('parseTokens', () => {
  it('reads one token', () => {
    expect(parseTokens('admin', ONE)).toEqual([{ name: 'admin', token: ONE }]);
    expect(parseTokens('admin', `ops:${ONE}==`)).toEqual([{ name: 'ops', token: `${ONE}==` }]);
  });

  it('reads several, with the time at which one ends', () => {
    expect(parseTokens('admin', `old:${ONE}@2030-01-31, new:${TWO}`)).toEqual([
      { name: 'old', token: ONE, expiresAt: Date.UTC(2030, 0, 31) },
      { name: 'new', token: TWO },
    ]);
    expect(parseTokens('admin', `${ONE}@2030-01-31T18:30Z`)[0]?.expiresAt).toBe(Date.UTC(2030, 0, 31, 18, 30));
    expect(parseTokens('admin', `${ONE}@2030-01-31T18:30:05Z`)[0]?.expiresAt).toBe(Date.UTC(2030, 0, 31, 18, 30, 5));
  });

  it('reads a name and a token of the greatest length, without the blanks around them', () => {
    const [name, token] = ['A_b-9'.padEnd(32, 'x'), `${ONE}._~+/-`.padEnd(256, 'xyz')];
    expect(parseTokens('admin', ` ${name}:${token}== `)).toEqual([{ name, token: `${token}==` }]);
  });

  it.each([
    [ONE.slice(1), 'token of 16'],
    [`x ${ONE}`, 'token of 16'],
    [`${ONE}===`, 'token of 16'],
    [`${ONE}=x`, 'token of 16'],
    [`ops:${ONE.padEnd(257, ONE)}`, 'token of 16'],
    // 15 different characters of 16, so less than 64 bits.
    ['0123456789abcdee', '64 bits'],
    ['abcdefg'.repeat(30), '8 different characters'],
    [`${'x'.repeat(33)}:${ONE}`, 'name of 1'],
    [`ops!:${ONE}`, 'name of 1'],
    [`${ONE}@x2030-01-31`, 'expiry'],
    [`${ONE}@2030-01-31x`, 'expiry'],
    [`${ONE}@2030-01-31T18:30Zx`, 'expiry'],
    [`${ONE}@2030-01-31@2031-01-31`, 'expiry'],
    [`ops:${ONE},dev:${TWO}@tomorrow`, 'entry 2 must have an expiry'],
    [`${ONE} x`, 'token of 16'],
    [`ops:${'x'.repeat(257)}`, 'token of 16'],
    ['aaaaaaaaaaaaaaaa', 'hard to guess'],
    ['abcabcabcabcabcabcabcabcabcabcabc', 'hard to guess'],
    ['change-me-change-me', 'openssl rand -hex 32'],
    ['passwordpassword', 'hard to guess'],
    [`:${ONE}`, 'name of 1'],
    [`o ps:${ONE}`, 'name of 1'],
    [`ops:${ONE}:x`, 'token of 16'],
    [`${ONE},${TWO}`, 'entry 1 must be name:token'],
    [`ops:${ONE},`, 'entry 2 must be name:token'],
    [`ops:${ONE},ops:${TWO}`, 'own name'],
    [`ops:${ONE},dev:${ONE}`, 'twice'],
    [`${ONE}@`, 'expiry'],
    [`${ONE}@tomorrow`, 'expiry'],
    [`${ONE}@2030-02-30`, 'expiry'],
    [`${ONE}@2030-13-01`, 'expiry'],
    [`${ONE}@2030-01-31T18:30`, 'expiry'],
    [`${ONE}@2030-01-31T25:30Z`, 'expiry'],
    [`${ONE}@1893456000000`, 'expiry'],
  ])('refuses %s, and does not show it', (value, problem) => {
    let message = '';
    try {
      parseTokens('admin', value);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain(problem);
    expect(message).not.toContain(ONE.slice(1));
    expect(message).not.toContain(TWO);
  });
});

describe('makeToken', () => {
  it('makes and logs an admin token that nobody can know before', () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
    const made = [makeToken(), makeToken()];
    const tokens = made.map(({ token }) => token);
    expect(made.map(({ token }) => parseTokens('admin', token))).toEqual(made.map((token) => [token]));
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(24);
    expect(log.mock.calls.map(([text]) => String(text).split(': ')[1])).toEqual(tokens);
    log.mockRestore();
  });
});
