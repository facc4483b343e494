import type { Peer, WorkerStore } from '@leaf-ids/core';
import { holdersOf } from '@leaf-ids/core/internal';
import { type InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import type { RegistryTraffic } from './registry-traffic';

const CALLS = [
  ['read', 'readRegistry'],
  ['read', 'list'],
  ['read', 'read'],
  ['write', 'writeRegistry'],
  ['write', 'create'],
  ['write', 'replace'],
] as const;

/** A store whose calls are counted as the statements of a database: each is one, whatever the number of its rows. */
export function countedStore(server: InMemoryWorkers, traffic: RegistryTraffic): WorkerStore {
  const store: WorkerStore = new InMemoryWorkerStore(server);
  for (const [kind, name] of CALLS) {
    const call = store[name].bind(store) as (...args: unknown[]) => Promise<unknown>;
    const counted = async (...args: unknown[]): Promise<unknown> => {
      const answer = await call(...args);
      return traffic[kind](answer, JSON.stringify({ answer }));
    };
    Object.assign(store, { [name]: counted });
  }
  // As the SQL store does it.
  store.peers = async (now): Promise<Peer[]> => holdersOf(await store.list(), now);
  return store;
}
