import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';

/** The machine and software of a run. Runs are only comparable if these are equal. */
export interface Environment {
  readonly date: string;
  readonly node: string;
  readonly v8: string;
  readonly os: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** Load average of the minute before the run: other work on the machine. */
  readonly loadAverage: number;
}

export function readEnvironment(): Environment {
  return {
    date: new Date().toISOString(),
    node: process.version,
    v8: process.versions.v8,
    os: `${platform()} ${release()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadAverage: loadavg()[0] ?? 0,
  };
}

export function describeEnvironment({ node, v8, os, cpu, cores, memoryGiB, loadAverage }: Environment): string {
  const busy = loadAverage.toFixed(2);
  return `Node.js ${node} (V8 ${v8}), ${os}, ${cpu}, ${cores} cores, ${memoryGiB} GiB; load average before: ${busy}`;
}
