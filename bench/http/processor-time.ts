import { readFileSync } from 'node:fs';

/** The unit of CPU times in /proc: fixed in the Linux interface on all common platforms. */
const TICKS_PER_SECOND = 100;

/** A file of /proc about a process; undefined where there is none. */
export function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Of a process and those it started, all threads, in seconds; undefined where there is no /proc. */
export function cpuSecondsOf(pid: number): number | undefined {
  const own = ticks(pid, 11);
  if (own === undefined) return undefined;
  const children = readProc(pid, `task/${pid}/children`)?.split(' ').filter(Boolean) ?? [];
  return children.reduce((sum, child) => sum + (cpuSecondsOf(Number(child)) ?? 0), own / TICKS_PER_SECOND);
}

/** Of all processes that this one started and that have ended, in seconds; undefined where there is no /proc. */
export function cpuSecondsOfEnded(): number | undefined {
  const sum = ticks(process.pid, 13);
  return sum === undefined ? undefined : sum / TICKS_PER_SECOND;
}

/** The field of `stat`, counted from the one after the name, and the next one: time in user and in system mode. */
function ticks(pid: number, field: number): number | undefined {
  const stat = readProc(pid, 'stat');
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && Number(fields[field]) + Number(fields[field + 1]);
}
