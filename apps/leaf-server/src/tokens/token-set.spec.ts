import crypto from 'node:crypto';
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import { FakeClock } from '@leaf-ids/core/testing';
import { makeToken } from '../config/tokens';
import { bearerOf, passwordOf, TokenSet } from './token-set';

const OLD = 'old-token-0123456789';
const NEW = 'new-token-0123456789';

describe('TokenSet', () => {
  const clock = new FakeClock();
  const tokens = new TokenSet(
    [
      { name: 'old', token: OLD, expiresAt: clock.now() + 1000 },
      { name: 'new', token: NEW },
    ],
    clock,
  );
  const nameOf = (header: string | undefined): string | undefined => tokens.find(bearerOf(header))?.name;

  it.each([
    [`Bearer ${OLD}`, 'old'],
    [`Bearer ${NEW}`, 'new'],
    [`bearer   ${NEW} `, 'new'],
    [undefined, undefined],
    ['', undefined],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    [NEW, undefined],
    [`Basic ${NEW}`, undefined],
    [`Bearer ${NEW}x`, undefined],
    [`Bearer ${NEW.slice(1)}`, undefined],
    [`Bearer ${NEW.toUpperCase()}`, undefined],
    [`Bearer ${NEW} ${NEW}`, undefined],
    [`x Bearer ${NEW}`, undefined],
  ])('%j is of %s', (header, name) => {
    expect(nameOf(header)).toBe(name);
  });

  it('end at their time', async () => {
    await clock.advance(999);
    expect(nameOf(`Bearer ${OLD}`)).toBe('old');
    await clock.advance(1);
    expect(nameOf(`Bearer ${OLD}`)).toBeUndefined();
    expect(nameOf(`Bearer ${NEW}`)).toBe('new');
  });

  it.each(['', 'x', OLD, NEW, `${NEW}x`, NEW.slice(0, -1), 'y'.repeat(8000), '\u00e9'.repeat(20)])(
    'are compared as digests, all of them, in constant time: with %j',
    (token) => {
      const compare = jest.spyOn(crypto, 'timingSafeEqual');
      try {
        nameOf(`Bearer ${token}`);
        expect(compare.mock.calls.map((buffers) => buffers.map(({ byteLength }) => byteLength))).toEqual([
          [32, 32],
          [32, 32],
        ]);
      } finally {
        compare.mockRestore();
      }
    },
  );

  it('are nowhere in what is printed of them', () => {
    expect(inspect(tokens, { depth: null })).not.toContain(NEW);
  });

  it('revoke the tokens that they replace', () => {
    const set = new TokenSet([{ name: 'ops', token: OLD }], clock);
    const found = set.find(OLD);
    expect(found && set.isValid(found)).toBe(true);
    set.replace([{ name: 'ops', token: NEW }]);
    expect(found && set.isValid(found)).toBe(false);
    expect([set.find(OLD), set.find(NEW)?.name, set.names]).toEqual([undefined, 'ops', ['ops']]);
  });

  it('keep the tokens that stay, with their new end, and revoke those whose name or text changed', () => {
    const third = 'third-token-0123456789';
    const set = new TokenSet(
      [
        { name: 'ops', token: OLD },
        { name: 'ci', token: NEW },
        { name: 'old', token: third },
      ],
      clock,
    );
    const [ops, ci, old] = [set.find(OLD)!, set.find(NEW)!, set.find(third)!];
    set.replace([
      { name: 'ops', token: OLD },
      { name: 'build', token: NEW },
      { name: 'old', token: third, expiresAt: clock.now() },
    ]);
    expect([ops, ci, old].map((token) => set.isValid(token))).toEqual([true, false, false]);
    expect([set.find(OLD), set.find(NEW)?.name, set.find(third)]).toEqual([ops, 'build', undefined]);
  });
});

it('makeToken generates a different token at each call, and logs it', () => {
  const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
  try {
    const made = [makeToken(), makeToken()];
    const shown = log.mock.calls.map(([line]) => /: ([\w-]{32})$/.exec(String(line))?.[1] ?? '');
    expect(made).toEqual(shown.map((token) => ({ name: 'admin', token })));
    expect(new Set(shown).size).toBe(2);
  } finally {
    log.mockRestore();
  }
});

it.each([
  [basic(`billing:${NEW}`), NEW],
  [basic(`:${NEW}`), NEW],
  [basic(`a:b:${NEW}`), `b:${NEW}`],
  [`basic  ${Buffer.from(`x:${NEW}`).toString('base64')} `, NEW],
  [`Bearer ${NEW}`, ''],
  ['Basic', ''],
  ['Basic %%%', ''],
  [undefined, ''],
])('%j has the password %j', (header, password) => {
  expect(passwordOf(header)).toBe(password);
});

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
