// node bench/run.mjs <part> [options]: compiles and runs bench/<part>.bench.ts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runTypescript } from '../scripts/run-typescript.mjs';

const [part, ...options] = process.argv.slice(2);
if (part === undefined || !existsSync(join(import.meta.dirname, `${part}.bench.ts`))) {
  console.error(`There is no bench/${part}.bench.ts. Usage: node bench/run.mjs <part> [options]`);
  process.exit(1);
}
runTypescript(`bench/${part}.bench`, ['bench', 'libs', 'migrations', 'test/support', 'test/contract'], options);
