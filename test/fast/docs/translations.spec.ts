import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/build';

/** What newcomers and users of the Java service read, in English and in Chinese. */
const PAIRS: [english: string, chinese: string][] = [
  ['README.md', 'README.zh.md'],
  ['docs/operations/backup.md', 'docs/zh/backup.md'],
  ...[
    ...['quick-start', 'first-id-in-nest', 'moving-from-auto-increment', 'moving-from-java-leaf'],
    ...['configuration', 'numbers', 'faq', 'troubleshooting', 'glossary', 'mybatis-plus-and-hutool'],
  ].map((name): [string, string] => [`docs/${name}.md`, `docs/zh/${name}.md`]),
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

/** What the Chinese pages do not use, because the glossary has another term for it. */
const OTHER_TERMS = /worker ID|工作节点|双缓存|号码段|租期|时钟回退|时钟倒退|业务标识/g;
const GLOSSARY = 'docs/zh/glossary.md';

it.each(PAIRS.map(([, chinese]) => chinese).filter((page) => page !== GLOSSARY))(
  '%s uses the terms of the glossary',
  (page) => {
    expect(found(read(page).replace(CODE_BLOCK, ''), OTHER_TERMS)).toStrictEqual([]);
  },
);

it('both glossaries have the same pairs of terms', () => {
  const pairs = (page: string): string[][] =>
    [...read(page).matchAll(/^\| ([^|-][^|]*?) +\| ([^|]+?) +\|/gm)].map(([, first = '', second = '']) => [
      first,
      second,
    ]);
  expect(pairs(GLOSSARY).map(([term, english]) => [english, term])).toEqual(
    pairs('docs/glossary.md').map(([term, chinese]) => (term === 'term' ? ['English', '术语'] : [term, chinese])),
  );
});

it('every page in Chinese has an English counterpart', () => {
  const pages = readdirSync(join(ROOT, 'docs/zh')).map((name) => `docs/zh/${name}`);
  const paired = PAIRS.map(([, chinese]) => chinese);
  expect(pages.filter((page) => !paired.includes(page))).toEqual(['docs/zh/README.md']);
});

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
