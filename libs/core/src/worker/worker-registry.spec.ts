import { type WorkerClaim, WorkerRegistry } from './worker-registry';

/** Does what every registry has to do, and nothing else. */
class BareRegistry extends WorkerRegistry {
  readonly description = 'bare';
  private readonly claim: WorkerClaim = { workerId: 7, previousCeiling: 0, ceiling: 1, version: 0 };

  acquire(): Promise<WorkerClaim> {
    return Promise.resolve(this.claim);
  }

  extend(): Promise<WorkerClaim> {
    return Promise.resolve(this.claim);
  }

  release(): Promise<void> {
    return Promise.resolve();
  }
}

it('A registry that says nothing of itself has no trouble, no company, no bounds and nothing to look after', async () => {
  const registry = new BareRegistry();
  expect(registry.trouble).toBeUndefined();
  await expect(registry.timeSources()).resolves.toEqual([]);
  await expect(registry.peers()).resolves.toEqual([]);
  await expect(registry.usage()).resolves.toBeUndefined();
  await expect(registry.maintain()).resolves.toBeUndefined();
  await expect(registry.close()).resolves.toBeUndefined();
});
