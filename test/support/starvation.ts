import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds that the threads of a process have waited for a processor so far, by thread ID. */
type Waits = ReadonlyMap<string, number>;

/**
 * How long this process and those below it have waited for a processor since this object was made: without it, a time
 * says nothing on a machine that does other work. Linux counts it in `/proc/<pid>/task/<tid>/schedstat`; elsewhere it is
 * 0.
 */
export class Starvation {
  private readonly before = waitsOf(process.pid);

  /**
   * Milliseconds: an upper bound of what a request has lost that passes through one thread of each process. Close to 0
   * while the machine has processors for all.
   */
  get ms(): number {
    return Array.from(waitsOf(process.pid), ([pid, threads]) => {
      const before = this.before.get(pid);
      return Math.max(0, ...Array.from(threads, ([thread, ms]) => ms - (before?.get(thread) ?? 0)));
    }).reduce((sum, ms) => sum + ms, 0);
  }
}

/** Measures the time from now on, in milliseconds, without {@link Starvation}. */
export function stopwatch(): () => number {
  const [begun, starvation] = [performance.now(), new Starvation()];
  return () => performance.now() - begun - starvation.ms;
}

function waitsOf(root: number): Map<string, Waits> {
  const all = processes();
  const found = [String(root)];
  for (const above of found) found.push(...all.filter(({ parent }) => parent === above).map(({ pid }) => pid));
  return new Map(found.map((pid) => [pid, waitsOfThreads(`/proc/${pid}/task`)]));
}

function processes(): { pid: string; parent: string | undefined }[] {
  const pids = names('/proc').filter((name) => /^\d+$/.test(name));
  // The name of the program, in parentheses, may contain anything.
  return pids.map((pid) => ({ pid, parent: text(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1] }));
}

function waitsOfThreads(folder: string): Waits {
  const nanoseconds = (thread: string): number => Number(text(`${folder}/${thread}/schedstat`).split(' ')[1] ?? 0);
  return new Map(names(folder).map((thread) => [thread, nanoseconds(thread) / 1e6]));
}

/** Empty if the process has ended. */
function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** As {@link names}. */
function text(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
