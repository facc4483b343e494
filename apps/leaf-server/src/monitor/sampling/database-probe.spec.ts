import { FakeClock } from '@leaf/core';
import { InMemorySegmentStore } from '../../../../../test/support/in-memory-segment-store';
import { DatabaseProbe } from './database-probe';

describe('DatabaseProbe', () => {
  let clock: FakeClock;
  let store: InMemorySegmentStore;
  let probe: DatabaseProbe;

  beforeEach(() => {
    clock = new FakeClock();
    store = new InMemorySegmentStore();
    probe = new DatabaseProbe(clock, store);
  });

  it('is up until it hears otherwise', async () => {
    expect(probe.state).toEqual({ status: 'up', reason: null });
    probe.ask();
    await clock.advance(0);
    expect(probe.state).toEqual({ status: 'up', reason: null });
  });

  it('is down with the reason of a failure, until the next success', async () => {
    store.breakDown();
    probe.ask();
    await clock.advance(0);
    expect(probe.state).toEqual({ status: 'down', reason: 'The memory does not answer.' });
    store.heal();
    probe.ask();
    await clock.advance(0);
    expect(probe.state.status).toBe('up');
  });

  it('is down when no answer comes, and asks no second time meanwhile', async () => {
    store.hold();
    probe.ask();
    await clock.advance(1000);
    probe.ask();
    expect(probe.state.status).toBe('up');
    await clock.advance(1);
    expect(probe.state).toEqual({ status: 'down', reason: 'The database has not answered for 1001 ms.' });
    expect(store.held).toHaveLength(1);
    store.release();
    await clock.advance(0);
    expect(probe.state.status).toBe('up');
    probe.ask();
    expect(store.count('findTag')).toBe(2);
  });

  it('is degraded when a part of the store is away', async () => {
    store.ping = () => Promise.resolve('b: gone');
    probe.ask();
    await clock.advance(0);
    expect(probe.state).toEqual({ status: 'degraded', reason: 'b: gone' });
  });

  it('without a database asks nobody', () => {
    const none = new DatabaseProbe(clock);
    none.ask();
    expect(none.state.status).toBe('up');
  });
});
