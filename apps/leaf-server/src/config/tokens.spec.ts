import { adminTokens } from './tokens';

const ONE = '0123456789abcdef';
const TWO = 'ABCDEFGHIJKLMNOP';

describe('adminTokens', () => {
  it('reads one token', () => {
    expect(adminTokens(ONE)).toEqual([{ name: 'admin', token: ONE }]);
    expect(adminTokens(`ops:${ONE}==`)).toEqual([{ name: 'ops', token: `${ONE}==` }]);
  });

  it('reads several, with the time at which one ends', () => {
    expect(adminTokens(`old:${ONE}@2030-01-31, new:${TWO}`)).toEqual([
      { name: 'old', token: ONE, expiresAt: Date.UTC(2030, 0, 31) },
      { name: 'new', token: TWO },
    ]);
    expect(adminTokens(`${ONE}@2030-01-31T18:30Z`)[0]?.expiresAt).toBe(Date.UTC(2030, 0, 31, 18, 30));
    expect(adminTokens(`${ONE}@2030-01-31T18:30:05Z`)[0]?.expiresAt).toBe(Date.UTC(2030, 0, 31, 18, 30, 5));
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
      adminTokens(value);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain(problem);
    expect(message).not.toContain(ONE.slice(1));
    expect(message).not.toContain(TWO);
  });
});
