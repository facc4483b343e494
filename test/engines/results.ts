import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/build';
import type { LoadCount } from './fleet-load';

const FOLDER = join(ROOT, 'node_modules/.cache/leaf-engines/results');

export interface LoadResult extends LoadCount {
  readonly disturbances: readonly string[];
}

/** What a run says of one engine beside its tests; the reporter adds those. */
interface EngineResult {
  readonly version?: string;
  readonly load?: LoadResult;
  readonly notes?: readonly string[];
}

/** Begins the result of an engine anew. */
export function recordVersion(engine: string, version: string): void {
  mkdirSync(FOLDER, { recursive: true });
  write(engine, { version });
}

export function recordLoad(engine: string, load: LoadResult): void {
  write(engine, { ...read(engine), load });
}

/** A measured limit of the engine. */
export function recordNote(engine: string, note: string): void {
  const result = read(engine);
  write(engine, { ...result, notes: [...(result.notes ?? []), note] });
}

function fileOf(engine: string): string {
  return join(FOLDER, `${engine}.json`);
}

function read(engine: string): EngineResult {
  return JSON.parse(readFileSync(fileOf(engine), 'utf8')) as EngineResult;
}

function write(engine: string, result: EngineResult): void {
  writeFileSync(fileOf(engine), `${JSON.stringify(result, undefined, 2)}\n`);
}
