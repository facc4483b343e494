import { jsonPages } from './stream-body';
import { PAGE } from './html';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('jsonPages', () => {
  it.each([0, 1, PAGE - 1, PAGE, PAGE + 1, 1000])('makes one document of %p items', (count) => {
    const text = [...jsonPages('{"items":[', numbers(count), (item) => ({ item }), ']}')].join('');
    expect(JSON.parse(text)).toEqual({ items: numbers(count).map((item) => ({ item })) });
  });

  it('skips removed items', () => {
    const even = (item: number): object | undefined => (item % 2 === 0 ? [item] : undefined);
    expect([...jsonPages('[', numbers(5), even, ']')].join('')).toBe('[[0],[2],[4]]');
    expect([...jsonPages('[', [1], even, ']')].join('')).toBe('[]');
  });

  it('creates each page on demand', () => {
    let seen = 0;
    const pages = jsonPages('[', numbers(1000), () => [++seen], ']');
    pages.next();
    expect(seen).toBe(PAGE);
    pages.next();
    expect(seen).toBe(2 * PAGE);
  });
});
