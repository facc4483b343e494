import { parentPort } from 'node:worker_threads';
import type { Breach } from './ledger';
import { playSeeds, type Worlds } from './seeds';

export interface Batch {
  readonly first: number;
  readonly count: number;
  /** Breaches of other kinds do not end a world; any does when undefined. */
  readonly until: readonly Breach[] | undefined;
  readonly worlds: Worlds;
}

parentPort?.on('message', ({ first, count, until, worlds }: Batch) => {
  void playSeeds(first, count, until && { until }, worlds).then((totals) => parentPort?.postMessage(totals));
});
