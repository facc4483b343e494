import { FakeClock } from '../../clock/fake-clock';
import { IdleRetries } from './buffer-context';

describe('IdleRetries', () => {
  it('lets a load that nobody waits for be retried for ten seconds', async () => {
    const clock = new FakeClock();
    await clock.advance(60_000);
    const retries = new IdleRetries(clock);
    const load = {};
    expect(retries.admits(load)).toBe(true);
    await clock.advance(9999);
    expect(retries.admits(load)).toBe(true);
    await clock.advance(1);
    expect(retries.admits(load)).toBe(false);
    retries.end(load);
    expect(retries.admits(load)).toBe(true);
  });

  it('lets 32 of them be retried at the same time', () => {
    const retries = new IdleRetries(new FakeClock());
    const loads = Array.from({ length: 33 }, () => ({}));
    expect(loads.filter((load) => retries.admits(load))).toHaveLength(32);
    expect([retries.admits(loads[0]!), retries.admits(loads[32]!)]).toEqual([true, false]);
    retries.end(loads[0]!);
    expect([retries.admits(loads[32]!), retries.admits(loads[0]!)]).toEqual([true, false]);
  });
});
