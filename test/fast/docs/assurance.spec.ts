import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/build';
import { isMissingFile, missingIn } from '../../support/named-commands';

const read = (page: string): string => readFileSync(join(ROOT, 'docs', page), 'utf8');
const PAGE = read('assurance.md');

/** The first cells of the first table below a heading. */
function claimsOf(text: string, heading: string): string[] {
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const [table = ''] = section.split('\n\n').flatMap((block) => (block.trim().startsWith('|') ? [block.trim()] : []));
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1]!.trim());
}

const rows = PAGE.split('\n').filter((line) => /^\| (?!claim|attack|---)/.test(line));
const quoted = [...PAGE.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
const commands = quoted.filter((text) => /^(npm|npx|node|python3) /.test(text) || text === '.ci/run');

describe('docs/assurance.md', () => {
  it('has every guarantee, principle and attack, in the order of their pages', () => {
    const guarantees = claimsOf(read('reliability.md'), 'Guarantees');
    const claims = claimsOf(PAGE, 'Guarantees');
    expect(guarantees.map((text, index) => text.slice(0, claims[index]?.length))).toEqual(claims);
    const principles = [...read('principles.md').matchAll(/^\d\. \*\*(.+?)\.\*\*/gm)].map(([, name]) => name);
    expect(claimsOf(PAGE, 'Principles')).toEqual(principles);
    expect(claimsOf(PAGE, 'Attacks')).toEqual(claimsOf(read('security.md'), 'Attacks and defences'));
    expect([claims.length, principles.length]).toEqual([7, 6]);
  });

  it('names a check for each claim', () => {
    expect(rows.length).toBeGreaterThan(35);
    const isChecked = (row: string): boolean =>
      /`(npm|node|python3|test|libs|apps)[ /]/.test(row) || row.includes('](../bench/');
    expect(rows.filter((row) => !isChecked(row))).toStrictEqual([]);
  });

  it('names files and commands that there are', () => {
    expect(commands.length).toBeGreaterThan(15);
    const missing = [...commands.flatMap((command) => missingIn(command)), ...quoted.filter(isMissingFile)];
    expect(missing).toStrictEqual([]);
  });
});
