import { parentPort } from 'node:worker_threads';
import type { Breach } from './ledger';
import { playSeeds } from './seeds';

export interface Batch {
  readonly first: number;
  readonly count: number;
  /** Breaches of other kinds do not end a world; any does when undefined. */
  readonly until: readonly Breach[] | undefined;
}

parentPort?.on('message', ({ first, count, until }: Batch) => {
  void playSeeds(first, count, until && { until }).then((totals) => parentPort?.postMessage(totals));
});
