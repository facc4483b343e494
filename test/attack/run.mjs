// npm run test:attack [-- --write-docs] [options of jest]: attacks the built server and prints what it did to the IDs.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSection } from '../../scripts/write-section.mjs';

const root = join(import.meta.dirname, '../..');
const words = process.argv.slice(2);
const options = words.filter((word) => word !== '--write-docs');
const jest = ['node_modules/jest/bin/jest.js', '--selectProjects', 'attack'];
const { status } = spawnSync(process.execPath, [...jest, ...options], { cwd: root, stdio: 'inherit' });
if (status === 0 && words.includes('--write-docs')) writeTable();
process.exitCode = status ?? 1;

function writeTable() {
  const text = readFileSync(join(root, 'node_modules/.cache/leaf-attack/results.json'), 'utf8');
  const { limitedBy, date, header, rows } = JSON.parse(text);
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  writeSection('test/attack/README.md', 'attacks', [
    `${date}, with ${limitedBy}, one server for each attack:`,
    '',
    line(header),
    line(header.map((_, column) => (column === 0 || column === header.length - 1 ? '---' : '--:'))),
    ...rows.map(line),
  ]);
}
