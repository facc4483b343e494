import { FakeClock } from '@leaf-ids/core/testing';
import { IdQuota } from './client-access';

describe('IdQuota', () => {
  let clock: FakeClock;
  let quota: IdQuota;
  const taken = (calls: number): number => Array.from({ length: calls }, () => quota.take(1)).filter(Boolean).length;

  beforeEach(() => {
    clock = new FakeClock();
    quota = new IdQuota(10, clock);
  });

  it('grants the IDs of one second at once, and then as time passes', async () => {
    expect(taken(20)).toBe(10);
    expect(quota.waitMs()).toBe(100);
    await clock.advance(99);
    expect(quota.take(1)).toBe(false);
    await clock.advance(1);
    expect(taken(5)).toBe(1);
    await clock.advance(3_600_000);
    expect(taken(20)).toBe(10);
  });

  it('lets a large call take IDs in advance, and the next call wait for them', async () => {
    expect(quota.take(110)).toBe(true);
    expect([quota.take(1), quota.waitMs()]).toEqual([false, 10_100]);
    await clock.advance(10_100);
    expect([quota.take(1), quota.take(1)]).toEqual([true, false]);
  });

  it('does not count the time for which it was full', async () => {
    await clock.advance(62_000);
    expect([quota.take(600), quota.take(1)]).toEqual([true, false]);
    await clock.advance(59_100);
    expect(quota.take(5)).toBe(true);
    quota.giveBack(5);
    await clock.advance(62_000);
    quota.take(5);
    quota.giveBack(5);
    await clock.advance(62_000);
    expect([quota.take(600), quota.take(600)]).toEqual([true, false]);
    expect(quota.waitMs()).toBe(59_100);
  });

  it('refuses a call for more than the IDs of a minute, and takes nothing', () => {
    expect([quota.maxCount, quota.take(601), quota.take(600)]).toEqual([600, false, true]);
  });

  it('is not charged for a refused call', () => {
    expect(taken(10)).toBe(10);
    for (let n = 0; n < 100; n++) expect(quota.take(5)).toBe(false);
    expect(quota.waitMs()).toBe(100);
  });

  it('takes back unused IDs, up to those of one second', () => {
    expect(quota.take(10)).toBe(true);
    quota.giveBack(4);
    expect(taken(10)).toBe(4);
    quota.giveBack(100);
    expect(taken(20)).toBe(10);
  });

  it('follows the monotonic clock alone', async () => {
    expect(taken(10)).toBe(10);
    clock.step(3_600_000);
    expect(quota.take(1)).toBe(false);
    await clock.advance(100);
    expect(quota.take(1)).toBe(true);
  });

  it('without a limit grants everything', async () => {
    const unlimited = new IdQuota(Infinity, clock);
    for (let n = 0; n < 3; n++) expect(unlimited.take(1_000_000)).toBe(true);
    await clock.advance(1);
    unlimited.giveBack(1);
    expect([unlimited.take(1), unlimited.waitMs()]).toEqual([true, 0]);
  });
});
