import { FakeClock } from '@leaf-ids/core/testing';
import { FailureLimit } from './token-check';

function fail(limit: FailureLimit, address: string, times: number): number[] {
  return Array.from({ length: times }, () => limit.fail(address));
}

const TEN_PASS = Array.from({ length: 10 }, () => 0);

describe('FailureLimit', () => {
  it('lets ten failures a minute pass, each client for itself', async () => {
    const clock = new FakeClock();
    const limit = new FailureLimit(clock);
    expect(fail(limit, '10.0.0.1', 9)).toEqual(TEN_PASS.slice(1));
    await clock.advance(20_000);
    expect(fail(limit, '10.0.0.1', 3)).toEqual([0, 40_000, 40_000]);
    expect(limit.fail('10.0.0.2')).toBe(0);
    await clock.advance(39_999);
    expect(limit.fail('10.0.0.1')).toBe(1);
    await clock.advance(1);
    expect(fail(limit, '10.0.0.1', 11)).toEqual([...TEN_PASS, 60_000]);
  });

  it('counts all addresses of an IPv6 network as one client', () => {
    const limit = new FailureLimit(new FakeClock());
    for (let n = 1; n <= 10; n++) limit.fail(`2001:db8:1:2::${n}`);
    expect(limit.fail('2001:db8:1:2:ffff::1')).toBe(60_000);
    expect(limit.fail('2001:db8:1:3::1')).toBe(0);
  });

  it('keeps 10,000 clients in memory, the newest', () => {
    const limit = new FailureLimit(new FakeClock());
    fail(limit, 'first', 10);
    fail(limit, 'second', 10);
    for (let n = 0; n < 9_999; n++) limit.fail(`client-${n}`);
    expect(limit.fail('second')).toBe(60_000);
    expect(limit.fail('first')).toBe(0);
  });
});
