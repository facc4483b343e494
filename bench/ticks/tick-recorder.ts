import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Loaded ahead of the server: at each SIGUSR2 it writes the longest tick since the one before, and begins anew. */
const file = process.env['LEAF_BENCH_TICKS'];
if (file === undefined) throw new Error('LEAF_BENCH_TICKS says where ticks are written.');
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
process.on('SIGUSR2', () => {
  writeFileSync(file, JSON.stringify({ longestMs: delays.max / 1e6 }));
  delays.reset();
});
