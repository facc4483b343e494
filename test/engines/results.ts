import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../support/build';
import type { LoadCount } from './fleet-load';

const FOLDER = join(ROOT, 'node_modules/.cache/leaf-engines/results');

export interface LoadResult extends LoadCount {
  readonly disturbances: readonly string[];
}

/** What a test file says of its engine; the reporter adds the count of its tests. */
interface EngineResult {
  readonly engine: string;
  readonly version: string;
  readonly load?: LoadResult;
}

/** Begins the result of this test file anew. */
export function recordEngine(engine: string, version: string): void {
  mkdirSync(FOLDER, { recursive: true });
  write({ engine, version });
}

export function recordLoad(load: LoadResult): void {
  write({ ...(JSON.parse(readFileSync(fileOfTest(), 'utf8')) as EngineResult), load });
}

function write(result: EngineResult): void {
  writeFileSync(fileOfTest(), `${JSON.stringify(result, undefined, 2)}\n`);
}

function fileOfTest(): string {
  const name = basename(expect.getState().testPath ?? '', '.engine.ts');
  return join(FOLDER, `${name}.json`);
}
