import { writeFileSync } from 'node:fs';

/** Preloaded into the server: on SIGUSR2, writes the CPU time of the longest tick since the previous signal. */
const file = process.env['LEAF_BENCH_TICKS'];
if (file === undefined) throw new Error('Set LEAF_BENCH_TICKS to the file for the ticks.');

interface Usage {
  readonly user: number;
  readonly system: number;
}

/** Of the thread of the event loop since Node.js 23.9; before, of all threads. */
const { threadCpuUsage = () => process.cpuUsage() } = process as { readonly threadCpuUsage?: () => Usage };

function cpuMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

let longestMs = 0;
let before = cpuMs();
// CPU time, because other processes of a busy machine interrupt a tick. The interval fires once per turn of the loop.
setInterval(() => {
  const now = cpuMs();
  longestMs = Math.max(longestMs, now - before);
  before = now;
}, 1).unref();
process.on('SIGUSR2', () => {
  writeFileSync(file, JSON.stringify({ longestMs }));
  longestMs = 0;
  before = cpuMs();
});
