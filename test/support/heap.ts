import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that are in use once all garbage is gone: whoever else uses the machine does not change it. */
export function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What the first run frees may hold more that the second one frees.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
