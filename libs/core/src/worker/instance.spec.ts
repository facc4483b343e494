import { isIPv4 } from 'node:net';
import { firstAddress, formatInstance } from './instance';

describe('formatInstance', () => {
  it.each([
    ['10.0.0.7', 8080, '10.0.0.7:8080'],
    ['leaf-0.leaf', 80, 'leaf-0.leaf:80'],
    ['::1', 8080, '[::1]:8080'],
    ['2001:db8::7', 65535, '[2001:db8::7]:65535'],
  ])('writes %s and %i as %s', (ip, port, text) => {
    expect(formatInstance({ ip, port })).toBe(text);
  });
});

it('firstAddress is an IPv4 address', () => {
  expect(isIPv4(firstAddress())).toBe(true);
});
