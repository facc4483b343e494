import { readFile, readlink } from 'node:fs/promises';
import { exists } from './services';
import { until } from './until';

/** The processes that the sessions of a process have started, and that run. */
export async function zookeeperChildren(parent = process.pid): Promise<number[]> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8');
  const found = children.split(' ').filter(Boolean).map(Number);
  const programs = await Promise.all(found.map((pid) => readlink(`/proc/${pid}/exe`).catch(() => undefined)));
  return found.filter((_, n) => programs[n] === process.execPath);
}

export async function onlyZookeeperChild(parent?: number): Promise<number> {
  const [pid, ...others] = await zookeeperChildren(parent);
  if (pid === undefined || others.length > 0) throw new Error(`Not one child: ${pid}, ${others.join()}`);
  return pid;
}

/** Of one whose parent may be gone, so that nobody reports its end. */
export async function ended(pid: number): Promise<void> {
  await until(`end of process ${pid}`, async () => {
    if (!(await exists(`/proc/${pid}`))) return true;
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  });
}
