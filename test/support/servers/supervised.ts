import type { BuiltServer } from './built-server';
import { until } from '../until';

/** The processes of a server with `LEAF_PROCESSES`, as its log tells of them: their pids, by number. */
export function processesOf({ stdout }: BuiltServer): Map<number, number> {
  const pids = new Map<number, number>();
  for (const line of stdout.split('\n')) {
    if (!/"Process \d+ of \d+ serves /.test(line)) continue;
    const { process, pid } = JSON.parse(line) as { process: number; pid: number };
    pids.set(process, pid);
  }
  return pids;
}

/** Kills one of them, or makes it hang, and resolves with the pid of the one that serves in its place. */
export async function replaced(
  server: BuiltServer,
  process: number,
  signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL',
): Promise<number> {
  const before = processesOf(server).get(process)!;
  global.process.kill(before, signal);
  return until(
    `process in the place of ${before}`,
    () => {
      const now = processesOf(server).get(process);
      return now === before ? undefined : now;
    },
    90_000,
  );
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
