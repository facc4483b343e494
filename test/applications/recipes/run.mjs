// node test/applications/recipes/run.mjs [--write-docs]: tries the recipes of docs/orm and writes the table of test/applications/recipes/README.md.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSection } from '../../../scripts/write-section.mjs';

const root = join(import.meta.dirname, '../../..');
const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'applications', '--config', 'jest.config.js'];
const { status } = spawnSync(process.execPath, [...jest, 'test/applications/recipes'], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;

if (process.argv.includes('--write-docs')) {
  // Also after a failure: the rows of the page differ from those of the run until this writes them.
  const tables = JSON.parse(readFileSync(join(root, 'node_modules/.cache/leaf-recipes/tables.json'), 'utf8'));
  const lines = Object.entries(tables).flatMap(([title, table]) => [`### ${title}`, '', ...table, '']);
  writeSection('test/applications/recipes/README.md', 'recipes', lines.slice(0, -1));
  spawnSync(
    process.execPath,
    ['node_modules/prettier/bin/prettier.cjs', '--write', 'test/applications/recipes/README.md'],
    { cwd: root },
  );
}
