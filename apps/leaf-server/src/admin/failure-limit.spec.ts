import { FakeClock } from '@leaf-ids/core';
import { FailureLimit } from './failure-limit';

function countMany(limit: FailureLimit, address: string, times: number): number[] {
  return Array.from({ length: times }, () => limit.count(address));
}

describe('FailureLimit', () => {
  it('lets ten failures a minute pass, each address for itself', async () => {
    const clock = new FakeClock();
    const limit = new FailureLimit(clock);
    expect(countMany(limit, 'one', 10)).toEqual(Array(10).fill(0));
    await clock.advance(20_000);
    expect(countMany(limit, 'one', 2)).toEqual([40_000, 40_000]);
    expect(limit.count('other')).toBe(0);
    await clock.advance(39_999);
    expect(limit.count('one')).toBe(1);
    await clock.advance(1);
    expect(countMany(limit, 'one', 11)).toEqual([...Array<number>(10).fill(0), 60_000]);
  });

  it('keeps 10,000 addresses in mind, the newest', () => {
    const limit = new FailureLimit(new FakeClock());
    countMany(limit, 'first', 10);
    countMany(limit, 'second', 10);
    for (let n = 0; n < 9_999; n++) limit.count(`address-${n}`);
    expect(limit.count('second')).toBeGreaterThan(0);
    expect(limit.count('first')).toBe(0);
  });
});
