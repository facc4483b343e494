import { FakeClock, type Peer, type TimeSource, type WorkerUsage } from '@leaf/core';
import { InMemoryWorkerRegistry, InMemoryWorkerStorage } from '../../../../test/support/in-memory-worker-registry';
import { StandInRegistry } from './stand-in-registry';

const source: TimeSource = { name: 'the database', ask: () => Promise.resolve(1) };
const peer: Peer = { instance: '10.0.0.8:8080', workerId: 8 };

/** Knows others, and can run out of worker IDs. */
class SociableRegistry extends InMemoryWorkerRegistry {
  maintained = 0;

  override timeSources(): Promise<TimeSource[]> {
    return Promise.resolve([source]);
  }

  override peers(): Promise<Peer[]> {
    return Promise.resolve([peer]);
  }

  override usage(): Promise<WorkerUsage> {
    return Promise.resolve({ used: 3, most: 1024 });
  }

  override maintain(): Promise<void> {
    this.maintained++;
    return Promise.resolve();
  }
}

it('A file stands in for leases alone: all else is left to the registry', async () => {
  const inner = new SociableRegistry(new InMemoryWorkerStorage());
  const registry = new StandInRegistry(inner, '/nowhere', new FakeClock());
  await expect(registry.timeSources()).resolves.toEqual([source]);
  await expect(registry.peers()).resolves.toEqual([peer]);
  await expect(registry.usage()).resolves.toEqual({ used: 3, most: 1024 });
  await registry.maintain();
  expect(inner.maintained).toBe(1);
});
