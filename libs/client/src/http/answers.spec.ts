import { readBatch, readRanges } from './answers';

const TOP = '9223372036854775807';

describe('readRanges', () => {
  it.each([
    [3, [{ from: '1', to: '3' }]],
    [5, [{ from: '1', to: '3' }, { from: '7', to: '8' }]], // prettier-ignore
    [1, [{ from: TOP, to: TOP }]],
  ])('takes %d IDs of %j', (count, ranges) => {
    const read = readRanges({ tag: 'order', ranges, more: 'is ignored' }, 'order', count);
    expect(read.ranges).toEqual(ranges.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) })));
    expect(read.strict).toBe(false);
  });

  it('detects a strict tag', () => {
    const read = readRanges({ tag: 'order', order: 'strict', ranges: [{ from: '1', to: '3' }] }, 'order', 3);
    expect(read.strict).toBe(true);
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'x'],
    ['no ranges', { tag: 'order' }],
    ['ranges that are none', { tag: 'order', ranges: { from: '1', to: '2' } }],
    ['another tag', { tag: 'orders', ranges: [{ from: '1', to: '2' }] }],
    ['too few', { tag: 'order', ranges: [{ from: '1', to: '1' }] }],
    ['too many', { tag: 'order', ranges: [{ from: '1', to: '3' }] }],
    ['no range at all', { tag: 'order', ranges: [] }],
    ['a range of null', { tag: 'order', ranges: [null] }],
    ['numbers', { tag: 'order', ranges: [{ from: 1, to: 2 }] }],
    ['a range that falls', { tag: 'order', ranges: [{ from: '3', to: '1' }, { from: '4', to: '8' }] }], // prettier-ignore
    ['ranges that overlap', { tag: 'order', ranges: [{ from: '1', to: '1' }, { from: '1', to: '1' }] }], // prettier-ignore
    ['ranges that descend', { tag: 'order', ranges: [{ from: '9', to: '9' }, { from: '1', to: '1' }] }], // prettier-ignore
    ['ID 0', { tag: 'order', ranges: [{ from: '0', to: '1' }] }],
    ['a negative ID', { tag: 'order', ranges: [{ from: '-1', to: '0' }] }],
    ['leading zeros', { tag: 'order', ranges: [{ from: '01', to: '2' }] }],
    ['a fraction', { tag: 'order', ranges: [{ from: '1', to: '2.0' }] }],
    ['hexadecimal', { tag: 'order', ranges: [{ from: '0x1', to: '0x2' }] }],
    ['blanks', { tag: 'order', ranges: [{ from: ' 1', to: '2' }] }],
    ['more than 63 bits', { tag: 'order', ranges: [{ from: TOP, to: '9223372036854775808' }] }],
    ['more than 19 digits', { tag: 'order', ranges: [{ from: '1'.repeat(20), to: `${'1'.repeat(19)}2` }] }],
  ])('refuses %s', (_, body) => {
    expect(() => readRanges(body, 'order', 2)).toThrow(/invalid response/);
  });
});

describe('readBatch', () => {
  it('accepts ascending decimal IDs of different lengths', () => {
    const ids = ['9', '10', '11', '999', '1000', TOP];
    expect(readBatch({ key: 'k', ids }, 'k', 6)).toEqual(ids);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no IDs', { key: 'k' }],
    ['another key', { key: 'x', ids: ['1', '2'] }],
    ['too few', { key: 'k', ids: ['1'] }],
    ['too many', { key: 'k', ids: ['1', '2', '3'] }],
    ['numbers', { key: 'k', ids: [1, 2] }],
    ['the same twice', { key: 'k', ids: ['1', '1'] }],
    ['descending ones', { key: 'k', ids: ['2', '1'] }],
    ['descending ones of different lengths', { key: 'k', ids: ['10', '9'] }],
    ['ID 0', { key: 'k', ids: ['0', '1'] }],
    ['more than 63 bits', { key: 'k', ids: ['1', '9223372036854775808'] }],
    ['text', { key: 'k', ids: ['1', 'two'] }],
    ['something like an array', { key: 'k', ids: { 0: '1', 1: '2', length: 2 } }],
  ])('refuses %s', (_, body) => {
    expect(() => readBatch(body, 'k', 2)).toThrow(/invalid response/);
  });
});
