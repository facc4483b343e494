import { parseTokens } from './tokens';

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

  it.each([
    [ONE.slice(1), 'token of 16'],
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
