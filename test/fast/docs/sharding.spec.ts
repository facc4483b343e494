import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LeafError } from '@leaf-ids/core';
import { defaultLayout, SnowflakeGenerator } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { SeededRandom } from '../../support/seeded-random';

const BITS = 10;
const PER_SECOND = [1, 50, 500, 5000];
const IDS = 100_000;
const WINDOW = {
  term: { workerId: 1, floor: 0 },
  ceiling: Infinity,
  renewAfter: Infinity,
  refusal: new LeafError('LEAF_NOT_READY', 'no worker'),
  renew: () => Promise.resolve(),
};

/** The largest and the smallest share of `id % 2^n`, as multiples of an even share, for n from 1 to {@link BITS}. */
function sharesOf(perSecond: number, sequenceStart: number): [number, number][] {
  const clock = new FakeClock(1_700_000_000_000);
  const random = new SeededRandom(perSecond);
  const options = { maxBackwardsMs: 5, waitMs: 1000, sequenceStart };
  const ids = new SnowflakeGenerator(defaultLayout(), WINDOW, clock, (bound) => random.below(bound), options);
  const counts = new Uint32Array(2 ** BITS);
  for (let taken = 0; taken < IDS; taken++) {
    counts[Number(ids.next() % BigInt(counts.length))]!++;
    clock.step(perSecond > 1000 ? Number((taken + 1) % (perSecond / 1000) === 0) : 1000 / perSecond);
  }
  return Array.from({ length: BITS }, (_, bit) => {
    const shards = new Float64Array(2 ** (bit + 1));
    counts.forEach((count, rest) => (shards[rest % shards.length]! += count));
    const even = IDS / shards.length;
    return [Math.max(...shards) / even, Math.min(...shards) / even];
  });
}

describe('What to shard by', () => {
  const page = readFileSync(join(__dirname, '../../../docs/sharding.md'), 'utf8');
  const before = PER_SECOND.map((perSecond) => sharesOf(perSecond, 100));
  const now = PER_SECOND.map((perSecond) => sharesOf(perSecond, 1024));

  it('has a table with the shares that the generator gives', () => {
    const cell = ([largest, smallest]: [number, number]): string => `${largest.toFixed(2)}, ${smallest.toFixed(2)}`;
    for (let bit = 0; bit < BITS; bit++) {
      const cells = PER_SECOND.flatMap((_, index) => [cell(before[index]![bit]!), cell(now[index]![bit]!)]);
      expect(page.replace(/ +/g, ' ')).toContain(`| ${2 ** (bit + 1)} | ${cells.join(' | ')} |`);
    }
  });

  it('leaves no shard empty, as a start below 100 did', () => {
    for (const shares of now) for (const [, smallest] of shares) expect(smallest).toBeGreaterThan(0.5);
    expect(before.map((shares) => shares[BITS - 1]![1])).toEqual([0, 0, 0, 0]);
  });
});
