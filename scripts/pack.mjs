// Makes the packages that applications install, as tarballs in dist-packages/ or the folder after --out.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compile, entryOf } from './pack/compile.mjs';
import { PACKAGES } from './pack/packages.mjs';
import { stage } from './pack/stage.mjs';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist-packages') } } });
const out = resolve(values.out);
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const work = mkdtempSync(join(tmpdir(), 'leaf-pack-'));
try {
  compile([...new Set(PACKAGES.flatMap(entriesOf))], join(work, 'compiled'));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const folders = PACKAGES.map((definition) => {
    const folder = join(work, definition.name);
    stage(definition, join(work, 'compiled'), folder, manifest);
    return folder;
  });
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', out, ...folders];
  const files = execFileSync('npm', args, { cwd: work, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  for (const file of files.trim().split('\n')) console.log(join(out, file));
} finally {
  rmSync(work, { recursive: true, force: true });
}

function entriesOf({ parts, subpaths = [] }) {
  return [...parts.map((part) => entryOf(part)), ...subpaths.map((subpath) => entryOf(parts[0], subpath))];
}
