import { openSync, readSync, writeFileSync } from 'node:fs';

/** Preloaded into the server: on SIGUSR2, writes the CPU time of the longest tick since the previous signal. */
const file = process.env['LEAF_BENCH_TICKS'];
if (file === undefined) throw new Error('Set LEAF_BENCH_TICKS to the file for the ticks.');

const buffer = Buffer.alloc(64);
const schedstat = openSchedstat();

/** Of the thread of the event loop: its time on the CPU in nanoseconds is the first field. */
function openSchedstat(): number | undefined {
  try {
    return openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    return undefined;
  }
}

/** CPU time of the event loop's thread; of all threads on systems without /proc. */
function cpuMs(): number {
  // The kernel writes the time of a running thread at its timer interrupts, 4 ms apart, and when this is called.
  const { user, system } = process.cpuUsage();
  if (schedstat === undefined) return (user + system) / 1000;
  const length = readSync(schedstat, buffer, 0, buffer.length, 0);
  return parseInt(buffer.toString('latin1', 0, length), 10) / 1e6;
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
