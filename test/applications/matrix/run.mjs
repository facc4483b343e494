// node test/applications/matrix/run.mjs [--write-docs] [options of jest]: installs and runs the applications of the
// matrix, and puts its table into test/applications/matrix/README.md.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSection } from '../../../scripts/write-section.mjs';

const root = join(import.meta.dirname, '../../..');
const words = process.argv.slice(2);
const options = words.filter((word) => word !== '--write-docs');
const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'applications', '--config', 'jest.config.js'];
const { status } = spawnSync(process.execPath, [...jest, 'applications/matrix', ...options], {
  cwd: root,
  stdio: 'inherit',
});
if (status === 0 && words.includes('--write-docs')) writeTable();
process.exitCode = status ?? 1;

function writeTable() {
  const { header, rows } = JSON.parse(readFileSync(join(root, 'node_modules/.cache/leaf-matrix/results.json'), 'utf8'));
  const line = (cells) => `| ${cells.join(' | ')} |`;
  writeSection('test/applications/matrix/README.md', 'matrix', [
    line(header),
    line(header.map(() => '---')),
    ...rows.map(line),
  ]);
  // Aligns the columns.
  spawnSync(
    process.execPath,
    ['node_modules/prettier/bin/prettier.cjs', '--write', 'test/applications/matrix/README.md'],
    {
      cwd: root,
    },
  );
}
