import { systemRandom } from './random';

it('systemRandom gives every whole number from 0 up to, not including, its bound', () => {
  const seen = new Set(Array.from({ length: 1000 }, () => systemRandom(3)));
  expect([...seen].sort()).toEqual([0, 1, 2]);
});
