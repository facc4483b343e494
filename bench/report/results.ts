import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import type { Figure, Target } from './figures';

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

/** Properties that every part writes; each part adds its own. */
export interface PartResults {
  readonly environment: Environment;
  /** Figures for the comparison of two builds. */
  readonly figures: readonly Figure[];
  /** Targets for the summary of all parts. */
  readonly targets: readonly Target[];
}

/** Default folder for results: next to the compiled benchmarks, ignored by git. */
const FOLDER = 'node_modules/.cache/leaf-bench';
/** Environment variable with the folder for results, for repeated runs of a part. */
export const FOLDER_VARIABLE = 'LEAF_BENCH_RESULTS';

export function resultsFolder(): string {
  return resolve(process.env[FOLDER_VARIABLE] ?? FOLDER);
}

/** Writes the results of one part or of all parts, and returns the path. */
export function writeResults(part: string, results: object): string {
  const folder = resultsFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${part}.json`);
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
  return file;
}

/** Reads the results of a part in a folder; undefined if missing. */
export function readResults(part: string, folder: string): PartResults | undefined {
  const file = join(folder, `${part}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PartResults) : undefined;
}
