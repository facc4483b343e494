import { jsonPages } from './json-stream';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('jsonPages', () => {
  it.each([0, 1, 249, 250, 251, 1000])('makes one document of %p items', (count) => {
    const text = [...jsonPages('{"items":[', numbers(count), (item) => ({ item }), ']}')].join('');
    expect(JSON.parse(text)).toEqual({ items: numbers(count).map((item) => ({ item })) });
  });

  it('skips removed items', () => {
    const even = (item: number): number | undefined => (item % 2 === 0 ? item : undefined);
    expect([...jsonPages('[', numbers(5), even, ']')].join('')).toBe('[0,2,4]');
    expect([...jsonPages('[', [1], even, ']')].join('')).toBe('[]');
  });

  it('creates each page on demand', () => {
    let seen = 0;
    const pages = jsonPages('[', numbers(1000), () => ++seen, ']');
    pages.next();
    expect(seen).toBe(250);
    pages.next();
    expect(seen).toBe(500);
  });
});
