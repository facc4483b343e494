import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Used heap after garbage collection, in bytes; independent of other work on the machine. */
export function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  // Otherwise a collection also drops the code of functions that have not run for a while.
  setFlagsFromString('--no-flush-bytecode');
  const collect = runInNewContext('gc') as () => void;
  // Finalizers of the first collection can release more objects for the second one.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
