import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from './environment';
import type { Figure, Target } from './targets';

/** What every part writes; the rest of its file is its own. */
export interface PartResults {
  readonly environment: Environment;
  /** What a comparison of two builds compares. */
  readonly figures: readonly Figure[];
  /** What the summary of all parts lists. */
  readonly targets: readonly Target[];
}

/** Where results go when this is not set: beside the compiled benchmarks, where git does not see them. */
const FOLDER = 'node_modules/.cache/leaf-bench';
/** The variable by which one who runs a part several times keeps its results apart. */
export const FOLDER_VARIABLE = 'LEAF_BENCH_RESULTS';

export function resultsFolder(): string {
  return resolve(process.env[FOLDER_VARIABLE] ?? FOLDER);
}

/** Writes the results of a part, or of all of them, and returns the path. */
export function writeResults(part: string, results: object): string {
  const folder = resultsFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${part}.json`);
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
  return file;
}

/** The results that a part wrote to a folder; undefined when it wrote none. */
export function readResults(part: string, folder: string): PartResults | undefined {
  const file = join(folder, `${part}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PartResults) : undefined;
}
