import type { WorkerRegistry } from '@leaf/core';
import { InMemoryWorkerRegistry, InMemoryWorkerStorage } from '../support/in-memory-worker-registry';
import { workerRegistryContract, type WorkerRegistryHarness } from './worker-registry.contract';

/** @param exclusive see {@link InMemoryWorkerRegistry} */
function inMemory(exclusive: boolean): WorkerRegistryHarness {
  const registries = new WeakMap<WorkerRegistry, InMemoryWorkerRegistry>();
  let storage = new InMemoryWorkerStorage();
  let leases = 0;
  return {
    instances: 16,
    stock: false,
    twin: exclusive ? 'refused' : 'takes-over',
    reset: () => {
      storage = new InMemoryWorkerStorage();
      return Promise.resolve();
    },
    open: (instance) => {
      const registry = new InMemoryWorkerRegistry(storage, exclusive);
      registries.set(registry, registry);
      const holder = { ip: '10.0.0.7', port: 8080 + instance, leaseId: `lease-${++leases}` };
      return Promise.resolve({
        registry,
        holder,
        close: () => registry.close(),
      });
    },
    failNextWrite: (registry, moment) => registries.get(registry)?.failNextWrite(moment),
  };
}

workerRegistryContract('In memory, shared', inMemory(false));
workerRegistryContract('In memory, exclusive', inMemory(true));
