import crypto from 'node:crypto';
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import { FakeClock } from '@leaf-ids/core';
import { AdminTokens } from './token-set';

const OLD = 'old-token-0123456789';
const NEW = 'new-token-0123456789';

describe('AdminTokens', () => {
  const clock = new FakeClock();
  const tokens = new AdminTokens(
    [
      { name: 'old', token: OLD, expiresAt: clock.now() + 1000 },
      { name: 'new', token: NEW },
    ],
    clock,
  );

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
    expect(tokens.nameOf(header)).toBe(name);
  });

  it('end at their time', async () => {
    await clock.advance(999);
    expect(tokens.nameOf(`Bearer ${OLD}`)).toBe('old');
    await clock.advance(1);
    expect(tokens.nameOf(`Bearer ${OLD}`)).toBeUndefined();
    expect(tokens.nameOf(`Bearer ${NEW}`)).toBe('new');
  });

  it.each(['', 'x', OLD, NEW, `${NEW}x`, NEW.slice(0, -1), 'y'.repeat(8000), '\u00e9'.repeat(20)])(
    'are compared as digests, all of them, in constant time: with %j',
    (token) => {
      const compare = jest.spyOn(crypto, 'timingSafeEqual');
      try {
        tokens.nameOf(`Bearer ${token}`);
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

  it('make one, another every time, when there is none, and log it', () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
    try {
      const made = [new AdminTokens(undefined, clock), new AdminTokens(undefined, clock)];
      const shown = log.mock.calls.map(([line]) => /: ([\w-]{32})$/.exec(String(line))?.[1] ?? '');
      expect(shown).toHaveLength(2);
      expect(made.map((one, index) => one.nameOf(`Bearer ${shown[index]}`))).toEqual(['admin', 'admin']);
      expect(made[0]?.nameOf(`Bearer ${shown[1]}`)).toBeUndefined();
    } finally {
      log.mockRestore();
    }
  });
});
