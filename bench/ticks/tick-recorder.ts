import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Preloaded into the server: on SIGUSR2, writes the longest tick since the previous signal. */
const file = process.env['LEAF_BENCH_TICKS'];
if (file === undefined) throw new Error('Set LEAF_BENCH_TICKS to the file for the ticks.');
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
process.on('SIGUSR2', () => {
  writeFileSync(file, JSON.stringify({ longestMs: delays.max / 1e6 }));
  delays.reset();
});
