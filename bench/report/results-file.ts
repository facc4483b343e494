import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from './environment';
import type { Figure, Target } from './targets';

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
