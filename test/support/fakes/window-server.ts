import { WorkerWindows } from '@leaf-ids/core/internal';
import type { FakeClock } from '@leaf-ids/core/testing';
import { type InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { LeaseRig } from './lease-rig';

/** A server that hands out worker windows of a pool. */
export interface WindowServer {
  readonly rig: LeaseRig;
  readonly store: InMemoryWorkerStore;
  readonly windows: WorkerWindows;
}

/** @param most largest number of windows at the same time */
export function windowServer(
  workers: InMemoryWorkers,
  clock: FakeClock,
  number: number,
  { maxWorkerId = 1023, most = 3 } = {},
): WindowServer {
  const store = new InMemoryWorkerStore(workers);
  const rig = new LeaseRig(clock, store, { policy: 'pool', instance: { port: number }, maxWorkerId });
  return { rig, store, windows: new WorkerWindows(rig.registry, { ip: '10.0.0.7', port: number }, clock, most) };
}
