// Packs all packages into dist-packages, or the folder of the first argument; further ones are options of `npm pack`.
// Each package is built once, while `prepack` of a single one also builds those that it depends on.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compileModules, writeTypes } from './build-modules.mjs';

const [OUT = 'dist-packages', ...OPTIONS] = process.argv.slice(2);
const COPIES = ['LICENSE', 'CHANGELOG.md'];

process.chdir(join(import.meta.dirname, '..'));
const packages = [...readdirSync('libs').map((name) => `libs/${name}`), 'migrations'];
for (const path of [OUT, ...packages.map((folder) => `${folder}/dist`)]) rmSync(path, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });

// At the same time: tsc checks the packages and writes their declarations, and this process compiles their modules.
const projects = packages.map((folder) => `${folder}/tsconfig.build.json`);
const checked = once(
  spawn(process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...projects], { stdio: 'inherit' }),
  'exit',
);
packages.forEach(compileModules);
const [code] = await checked;
if (code !== 0) process.exit(1);
packages.forEach(writeTypes);

const copies = packages.flatMap((folder) => COPIES.map((file) => join(folder, file)));
try {
  copies.forEach((copy, index) => copyFileSync(COPIES[index % COPIES.length], copy));
  const options = ['--workspaces', '--ignore-scripts', '--silent', '--pack-destination', OUT, ...OPTIONS];
  process.exitCode = spawnSync('npm', ['pack', ...options], { stdio: 'inherit' }).status ?? 1;
} finally {
  for (const copy of copies) rmSync(copy, { force: true });
}
