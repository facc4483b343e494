import { failNextWrite } from '../../support/fakes/lost-answers';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { workerRegistryContract } from '../../support/contract/worker-registry.contract';
import { workerStoreContract } from '../../support/contract/worker-store.contract';

let server = new InMemoryWorkers();
const reset = (): Promise<void> => {
  server.wipe();
  return Promise.resolve();
};
const store = (): Promise<InMemoryWorkerStore> => Promise.resolve(new InMemoryWorkerStore(server));
let promotions = 0;

beforeEach(() => (server = new InMemoryWorkers()));

workerStoreContract('In memory', {
  ...{ reset, open: store, numbers: true, onePerInstance: false, failNextWrite },
  remove: (what) => {
    if (what === 'document') server.document = undefined;
    else server.records.delete(what.workerId);
    return Promise.resolve();
  },
});

for (const exclusive of [true, false]) {
  workerRegistryContract(`In memory, ${exclusive ? 'fixed' : 'pool'}`, {
    exclusive,
    reset,
    store,
    remove: (workerId) => {
      server.records.delete(workerId);
      const { document } = server;
      const copy = Object.assign(new Map(server.records), { document });
      server.promote(copy, server.origin);
      return Promise.resolve();
    },
    replicate: () => {
      const copy = server.copy();
      return Promise.resolve(() => {
        server.promote(copy, `promoted-${++promotions}`);
        return Promise.resolve();
      });
    },
  });
}
