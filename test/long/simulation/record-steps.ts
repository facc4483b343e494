import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simulate, type SimulationResult } from './world';

/**
 * Plays worlds, and writes the step logs of each into a directory of its own, for proof/trace. Worlds with processes that
 * the model does not have are left out: Java servers, copies of the memory of a process, late writes that ZooKeeper takes
 * because it compares only the version of a node; likewise worlds that need an exception.
 *
 * @returns the directories
 */
export async function recordSteps(first: number, count: number, directory: string): Promise<string[]> {
  const written: string[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const logs = new Map<string, string[]>();
    const onProcessStep = (process: string, line: string): void => {
      const lines = logs.get(process);
      if (lines === undefined) logs.set(process, [line]);
      else lines.push(line);
    };
    if (!isModelled(await simulate(seed, { onProcessStep }))) continue;
    const folder = join(directory, String(seed));
    await mkdir(folder, { recursive: true });
    for (const [process, lines] of logs) await writeFile(join(folder, `${process}.jsonl`), `${lines.join('\n')}\n`);
    written.push(folder);
  }
  return written;
}

function isModelled({ conditions, tally, excused, failure }: SimulationResult): boolean {
  const isExcused = Object.values(excused).some((count) => count > 0);
  return !conditions.forks && conditions.java === 0 && tally.overwritten === 0 && !isExcused && failure === undefined;
}
