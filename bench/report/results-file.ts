import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes `results` beside the compiled benchmarks, where git does not see them, and returns the path. */
export function writeResults(part: string, results: unknown): string {
  const folder = join(process.cwd(), 'node_modules/.cache/leaf-bench');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${part}.json`);
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
  return file;
}
