import { parentPort } from 'node:worker_threads';
import { playSeeds } from './seeds';

export interface Batch {
  readonly first: number;
  readonly count: number;
}

parentPort?.on('message', ({ first, count }: Batch) => {
  void playSeeds(first, count).then((totals) => parentPort?.postMessage(totals));
});
