// node bench/run.mjs <part> [--product <checkout>] [options]: compiles and runs bench/<part>.bench.ts, optionally with the libraries of another checkout, and with --node <version> on another version of
// Node, which is downloaded into .cache. The other options are passed to the part.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import '../scripts/ensure-build.mjs';
import { installNode } from '../scripts/install-node.mjs';
import { runTypescript } from '../scripts/run-typescript.mjs';

const [part, ...options] = process.argv.slice(2);
if (part === undefined || !existsSync(join(import.meta.dirname, `${part}.bench.ts`))) {
  console.error(`Unknown benchmark ${part}. Usage: node bench/run.mjs <part> [--product <checkout>] [options]`);
  process.exit(1);
}
const version = takeOption('--node');
if (version !== undefined) {
  const { status } = spawnSync(installNode(version), [import.meta.filename, part, ...options], { stdio: 'inherit' });
  process.exit(status ?? 1);
}
const product = takeOption('--product');
const sources = ['bench', 'libs', 'migrations'];
runTypescript(`bench/${part}.bench`, sources, options, product === undefined ? undefined : resolve(product));

function takeOption(name) {
  const at = options.indexOf(name);
  return at < 0 ? undefined : options.splice(at, 2)[1];
}
