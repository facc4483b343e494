// Builds the server, unless dist/ already holds a build of exactly these sources. --force builds in any case.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

process.chdir(join(import.meta.dirname, '..'));
const STAMP = 'dist/.sources';
const SOURCES = ['apps', 'libs', 'migrations'];
const SETTINGS = ['package-lock.json', 'nest-cli.json', 'tsconfig.json', 'apps/leaf-server/tsconfig.app.json'];

const sources = digest();
const built = existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : '';
if (built !== sources || process.argv.includes('--force')) {
  process.stderr.write('Building leaf-server …\n');
  const nest = 'node_modules/@nestjs/cli/bin/nest.js';
  const { status } = spawnSync(process.execPath, [nest, 'build', 'leaf-server'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(STAMP, sources);
}

function digest() {
  const hash = createHash('sha256');
  for (const file of [...SETTINGS, ...SOURCES.flatMap(filesBelow)]) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.spec.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
