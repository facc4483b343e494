import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../support/build';
import type { LoadCount } from './fleet-load';
import type { LossResult } from './loss-world';

const FOLDER = join(ROOT, 'node_modules/.cache/leaf-engines/results');

export interface LoadResult extends LoadCount {
  readonly disturbances: readonly string[];
}

/** One fault, and what it has cost. */
export interface FaultResult extends Omit<LossResult, 'moves'> {
  readonly fault: string;
  /** The settings that matter. */
  readonly settings: string;
  /** Number of times that the failover guard has moved the tags. */
  readonly moves: number;
}

/** What a test file says of its engine; the reporter adds the count of its tests. */
interface EngineResult {
  readonly engine: string;
  readonly version: string;
  readonly load?: LoadResult;
  readonly faults?: readonly FaultResult[];
}

/** Begins the result of this test file anew. */
export function recordEngine(engine: string, version: string): void {
  mkdirSync(FOLDER, { recursive: true });
  write({ engine, version });
}

export function recordLoad(load: LoadResult): void {
  write({ ...(JSON.parse(readFileSync(fileOfTest(), 'utf8')) as EngineResult), load });
}

export function recordFault(fault: string, settings: string, { moves, ...counts }: LossResult): void {
  const result = JSON.parse(readFileSync(fileOfTest(), 'utf8')) as EngineResult;
  const faults = [...(result.faults ?? []), { fault, settings, ...counts, moves: moves.length }];
  process.stdout.write(`${JSON.stringify(faults.at(-1))}\n`);
  write({ ...result, faults });
}

function write(result: EngineResult): void {
  writeFileSync(fileOfTest(), `${JSON.stringify(result, undefined, 2)}\n`);
}

function fileOfTest(): string {
  const name = basename(expect.getState().testPath ?? '', '.engine.ts');
  return join(FOLDER, `${name}.json`);
}
