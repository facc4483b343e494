// node bench/run.mjs <part> [--product <checkout>] [options]: compiles and runs <part>.bench.ts in bench or
// bench/studies, optionally with the libraries of another checkout. The other options are passed to the part.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runTypescript } from '../scripts/run-typescript.mjs';

const [part, ...options] = process.argv.slice(2);
const folder = ['bench', 'bench/studies'].find((each) =>
  existsSync(join(import.meta.dirname, '..', each, `${part}.bench.ts`)),
);
if (part === undefined || folder === undefined) {
  console.error(`Unknown benchmark ${part}. Usage: node bench/run.mjs <part> [--product <checkout>] [options]`);
  process.exit(1);
}
const at = options.indexOf('--product');
const [, product] = at < 0 ? [] : options.splice(at, 2);
const sources = ['bench', 'libs', 'migrations', 'test/support', 'test/contract'];
runTypescript(`${folder}/${part}.bench`, sources, options, product === undefined ? undefined : resolve(product));
