import { FakeClock } from '@leaf-ids/core/testing';
import { InMemorySegmentStore } from '../../../../test/support/fakes/in-memory-segment-store';
import { DatabaseProbe } from './health';

describe('DatabaseProbe', () => {
  let clock: FakeClock;
  let store: InMemorySegmentStore;
  let probe: DatabaseProbe;

  beforeEach(() => {
    clock = new FakeClock();
    store = new InMemorySegmentStore();
    probe = new DatabaseProbe(clock, store);
  });

  it('knows nothing before the first answer', async () => {
    expect(probe.health).toBeUndefined();
    probe.ask();
    await clock.advance(0);
    expect(probe.health).toEqual({ status: 'up' });
  });

  it('is down with the reason of a failure, until the next success', async () => {
    store.breakDown();
    probe.ask();
    await clock.advance(0);
    expect(probe.health).toEqual({ status: 'down', message: 'The memory does not answer.' });
    store.heal();
    probe.ask();
    await clock.advance(0);
    expect(probe.health?.status).toBe('up');
  });

  it('is down while a ping gets no response, and starts no second ping', async () => {
    store.hold();
    probe.ask();
    await clock.advance(1000);
    probe.ask();
    expect(probe.health).toBeUndefined();
    await clock.advance(1);
    expect(probe.health).toEqual({ status: 'down', message: 'The database has not responded for 1001 ms.' });
    expect(store.held).toHaveLength(1);
    store.release();
    await clock.advance(0);
    expect(probe.health?.status).toBe('up');
    probe.ask();
    expect(store.count('findTag')).toBe(2);
  });

  it('is degraded when a part of the store is down', async () => {
    store.ping = () => Promise.resolve('b: gone');
    probe.ask();
    await clock.advance(0);
    expect(probe.health).toEqual({ status: 'degraded', message: 'b: gone' });
  });

  it('sends no ping without a database', () => {
    const none = new DatabaseProbe(clock);
    none.ask();
    expect(none.health).toBeUndefined();
  });
});
