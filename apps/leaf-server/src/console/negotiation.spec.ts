import { acceptedEncoding, isUnchanged } from './static-assets';

describe('acceptedEncoding', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.000,gzip;q=0', undefined],
    ['br;q=0.1', 'br'],
    ['brotli', undefined],
  ])('of %j', (header, encoding) => {
    expect(acceptedEncoding(header, ['br', 'gzip'])).toBe(encoding);
  });

  it('offers what there is', () => {
    expect(acceptedEncoding('br, gzip', ['gzip'])).toBe('gzip');
    expect(acceptedEncoding('br, gzip', [])).toBeUndefined();
  });
});

describe('isUnchanged', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['W/"a"', true],
    ['"a"', true],
    ['"b", W/"a"', true],
    ['"b"', false],
    ['a', false],
    ['*', true],
  ])('with %j', (header, unchanged) => {
    expect(isUnchanged(header, 'W/"a"')).toBe(unchanged);
  });
});
