import { FakeClock } from '@leaf-ids/core/testing';
import { FailureLimit } from './failure-limit';

function fail(limit: FailureLimit, address: string, times: number): void {
  for (let n = 0; n < times; n++) limit.count(address);
}

describe('FailureLimit', () => {
  it('lets ten failures a minute pass, each client for itself', async () => {
    const clock = new FakeClock();
    const limit = new FailureLimit(clock);
    fail(limit, '10.0.0.1', 9);
    expect([limit.waitMs('10.0.0.1'), limit.isLimiting]).toEqual([0, false]);
    await clock.advance(20_000);
    limit.count('10.0.0.1');
    expect(limit.waitMs('10.0.0.1')).toBe(40_000);
    expect([limit.waitMs('10.0.0.2'), limit.isLimiting]).toEqual([0, true]);
    await clock.advance(39_999);
    expect(limit.waitMs('10.0.0.1')).toBe(1);
    await clock.advance(1);
    expect([limit.waitMs('10.0.0.1'), limit.isLimiting]).toEqual([0, false]);
    fail(limit, '10.0.0.1', 10);
    expect(limit.waitMs('10.0.0.1')).toBe(60_000);
  });

  it('counts all addresses of an IPv6 network as one client', () => {
    const limit = new FailureLimit(new FakeClock());
    for (let n = 1; n <= 10; n++) limit.count(`2001:db8:1:2::${n}`);
    expect(limit.waitMs('2001:db8:1:2:ffff::1')).toBeGreaterThan(0);
    expect(limit.waitMs('2001:db8:1:3::1')).toBe(0);
  });

  it('keeps 10,000 clients in memory, the newest', () => {
    const limit = new FailureLimit(new FakeClock());
    fail(limit, 'first', 10);
    fail(limit, 'second', 10);
    for (let n = 0; n < 9_999; n++) limit.count(`client-${n}`);
    expect(limit.waitMs('second')).toBeGreaterThan(0);
    expect(limit.waitMs('first')).toBe(0);
  });
});
