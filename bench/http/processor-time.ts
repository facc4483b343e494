import { readFileSync } from 'node:fs';

/** USER_HZ, the unit of CPU times in /proc; 100 on all common platforms. */
const TICKS_PER_SECOND = 100;

/** A file in /proc/<pid>; undefined if missing. */
export function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** CPU time of a process and its children, all threads, in seconds; undefined without /proc. */
export function cpuSecondsOf(pid: number): number | undefined {
  const own = ticks(pid, 11);
  if (own === undefined) return undefined;
  const children = (readProc(pid, `task/${pid}/children`)?.split(' ') ?? []).filter(Boolean);
  return children.reduce((sum, child) => sum + (cpuSecondsOf(Number(child)) ?? 0), own / TICKS_PER_SECOND);
}

/** CPU time of all ended children of this process, in seconds; undefined without /proc. */
export function cpuSecondsOfEnded(): number | undefined {
  const sum = ticks(process.pid, 13);
  return sum === undefined ? undefined : sum / TICKS_PER_SECOND;
}

/** Sum of a field of `stat`, counted after the process name, and the next field: user and system time. */
function ticks(pid: number, field: number): number | undefined {
  const stat = readProc(pid, 'stat');
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && Number(fields[field]) + Number(fields[field + 1]);
}
