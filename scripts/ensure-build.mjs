// Builds the server and the console unless dist/ is up to date with their sources. --force always builds both.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';

process.chdir(join(import.meta.dirname, '..'));
const SERVER_PROJECT = 'tsconfig.build.json';
const PARTS = [
  {
    name: 'leaf-server',
    outputs: ['dist/apps/leaf-server', 'dist/libs', 'dist/migrations'],
    settings: ['package-lock.json', 'tsconfig.json', SERVER_PROJECT],
    sources: ['apps/leaf-server', 'libs', 'migrations'],
    // Node does not resolve the paths of tsconfig.json; the second command makes them relative. The third replaces
    // main.js by one whose imports are bundled.
    commands: [
      ['node_modules/typescript/bin/tsc', '-p', SERVER_PROJECT],
      ['node_modules/tsc-alias/dist/bin/index.js', '-p', SERVER_PROJECT],
      ['node_modules/vite/bin/vite.js', 'build', '-c', 'apps/leaf-server/vite.config.mjs', '--logLevel', 'warn'],
    ],
  },
  {
    name: 'leaf-console',
    outputs: ['dist/apps/leaf-console'],
    settings: ['package-lock.json'],
    sources: ['apps/leaf-console', 'libs/core', 'libs/registry/src/policies'],
    commands: [['node_modules/vite/bin/vite.js', 'build', 'apps/leaf-console', '--logLevel', 'warn']],
  },
];

for (const part of PARTS) {
  const stamp = `dist/.${part.name}`;
  const sources = digest(part);
  const built = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (built !== sources || process.argv.includes('--force')) build(part, stamp, sources);
}

function build({ name, outputs, commands }, stamp, sources) {
  process.stderr.write(`Building ${name} …\n`);
  for (const path of [stamp, ...outputs]) rmSync(path, { recursive: true, force: true });
  // Reproducible builds: test runners set NODE_ENV=test.
  const env = { ...process.env, NODE_ENV: 'production' };
  for (const command of commands) {
    const { status } = spawnSync(process.execPath, command, { stdio: 'inherit', env });
    if (status !== 0) process.exit(status ?? 1);
  }
  writeFileSync(stamp, sources);
}

function digest({ settings, sources }) {
  const hash = createHash('sha256');
  for (const file of [...settings, ...sources.flatMap(filesBelow)]) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.spec\.ts$|\.md$|^LICENSE$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.split(sep).includes('dist'))
    .sort();
}
