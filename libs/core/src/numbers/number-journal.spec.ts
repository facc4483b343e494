import { createHash } from 'node:crypto';
import { type JournalEntry, JournalSeal } from './number-journal';

const LINE: Omit<JournalEntry, 'hash'> = {
  ...{ period: '2026-11', position: 1, event: 'issued', number: 7n, turn: 0, key: 'order 1', at: 1000, by: 'shop' },
  reason: undefined,
};
const PLAIN = new JournalSeal();
const KEYED = new JournalSeal('a secret of the auditor');

function sealed(seal: JournalSeal, previous = '', change: Partial<JournalEntry> = {}): JournalEntry {
  const line = { ...LINE, ...change };
  return { ...line, hash: seal.seal(previous, 'invoice', line) };
}

describe('JournalSeal', () => {
  it.each<[Partial<JournalEntry>]>([
    [{ period: '2026-12' }],
    [{ position: 2 }],
    [{ event: 'void' }],
    [{ number: 8n }],
    [{ turn: 1 }],
    [{ key: 'order 2' }],
    [{ at: 1001 }],
    [{ by: 'me' }],
    [{ reason: 'none' }],
  ])('notices a change to %j, with a key and without', (change) => {
    for (const seal of [PLAIN, KEYED]) {
      const line = sealed(seal, 'before');
      expect(seal.isIntact('before', 'invoice', line)).toBe(true);
      expect(seal.isIntact('before', 'invoice', { ...line, ...change })).toBe(false);
      expect(seal.isIntact('another', 'invoice', line)).toBe(false);
      expect(seal.isIntact('before', 'receipt', line)).toBe(false);
    }
  });

  it('proves nothing about a line with a key that it lacks, or without the key that it has', () => {
    expect(PLAIN.isIntact('', 'invoice', sealed(KEYED))).toBeUndefined();
    expect(KEYED.isIntact('', 'invoice', sealed(PLAIN))).toBeUndefined();
    expect(new JournalSeal('another, wrong secret').isIntact('', 'invoice', sealed(KEYED))).toBe(false);
  });

  it('adds a line with a key after one with it, and after one without', () => {
    for (const before of [sealed(KEYED), sealed(PLAIN)]) {
      expect(KEYED.isIntact(before.hash, 'invoice', sealed(KEYED, before.hash))).toBe(true);
    }
  });

  it('takes no line without a key after one with a key, and adds none', () => {
    const { hash } = sealed(KEYED);
    const { period, position, event, number, turn, key, at, by } = LINE;
    const text = JSON.stringify([hash, 'invoice', period, position, event, String(number), turn, key, at, by, null]);
    // As an attacker without the key could write it.
    const forged = { ...LINE, hash: createHash('sha256').update(text).digest('hex') };
    for (const seal of [PLAIN, KEYED]) expect(seal.isIntact(hash, 'invoice', forged)).toBe(false);
    expect(() => PLAIN.seal(hash, 'invoice', LINE)).toThrow('numbers.key');
  });
});
