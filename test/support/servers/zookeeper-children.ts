import { readFile, readlink } from 'node:fs/promises';
import { exists } from './services';
import { until } from '../until';

/** The processes that the sessions of a process have started, and that run. */
export async function zookeeperChildren(parent = process.pid): Promise<number[]> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8');
  const found = children.split(' ').filter(Boolean).map(Number);
  const programs = await Promise.all(found.map((pid) => readlink(`/proc/${pid}/exe`).catch(() => undefined)));
  return found.filter((_, n) => programs[n] === process.execPath);
}

/** One that was killed may need a moment to end. */
export function onlyZookeeperChild(parent?: number): Promise<number> {
  return until('only one child', async () => {
    const [pid, ...others] = await zookeeperChildren(parent);
    return others.length === 0 && pid;
  });
}

/** Of one whose parent may be gone, so that nobody reports its end. */
export async function ended(pid: number): Promise<void> {
  await until(`end of process ${pid}`, async () => {
    if (!(await exists(`/proc/${pid}`))) return true;
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  });
}
