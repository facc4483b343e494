// node scripts/install-node.mjs <version>: installs a version of Node into .cache, unless this one is of that version,
// and prints the path of its program.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '../.cache/node');

/** Installs the npm package `node`, which includes the headers, and returns the path of its executable. */
export function installNode(version) {
  if (`${process.versions.node}.`.startsWith(`${version}.`)) return process.execPath;
  const folder = join(CACHE, version);
  mkdirSync(folder, { recursive: true });
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const words = ['install', ...quiet, '--prefix', folder, `node@${version}`];
  const { status, stderr, error } = spawnSync('npm', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${words.join(' ')} failed\n${error?.message ?? stderr}`);
  return join(folder, `node_modules/node/node_modules/node-${process.platform}-${process.arch}/bin/node`);
}

if (process.argv[1] === import.meta.filename) console.log(installNode(process.argv[2] ?? ''));
