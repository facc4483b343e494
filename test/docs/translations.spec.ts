import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/build';

/** What users of the Java service read, in English and in Chinese. */
const PAIRS: [english: string, chinese: string][] = [
  ['README.md', 'README.zh.md'],
  ...['quick-start', 'configuration', 'moving-from-java-leaf', 'faq', 'troubleshooting'].map(
    (name): [string, string] => [`docs/${name}.md`, `docs/zh/${name}.md`],
  ),
];
const CODE_BLOCK = /^ *```.*?^ *```$/gms;
const CODE = /`[^`]+`/g;

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const found = (text: string, what: RegExp): string[] => [...text.matchAll(what)].map(([match]) => match).sort();

/** What does not depend on the language: the kind of a line, and for each cell its code and its numbers. */
function linesOf(page: string): unknown[] {
  const lines = read(page).replace(CODE_BLOCK, '').split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => [
      /^ *(#+ |- |\d+\. |\| |)/.exec(line)?.[1],
      ...line
        .replace(/\]\([^)]*\)/g, ']')
        .split(' | ')
        .map((cell) => [...found(cell, CODE), ...found(cell.replace(CODE, ''), /\d+([.,]\d+)*/g)]),
    ]);
}

describe.each(PAIRS)('%s and %s', (english, chinese) => {
  it('have the same headings, rows, settings and figures, line by line', () => {
    expect(linesOf(chinese)).toEqual(linesOf(english));
  });

  it('have the same code blocks', () => {
    expect(read(chinese).match(CODE_BLOCK)).toEqual(read(english).match(CODE_BLOCK));
  });

  it('lead to each other', () => {
    expect(read(english).split('\n\n')[1]).toMatch(/\[中文\]\([^)]*\)/);
    expect(read(chinese).split('\n\n')[1]).toMatch(/\[English\]\([^)]*\)/);
  });
});
