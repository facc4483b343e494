import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../../support/build';

const docs = join(ROOT, 'docs');
const pages = (readdirSync(docs, { recursive: true }) as string[]).filter(
  (page) => page.endsWith('.md') && page !== 'README.md' && !page.startsWith('.'),
);
const read = (page: string): string => readFileSync(join(docs, page), 'utf8');
const linksOf = (page: string): string[] => [...read(page).matchAll(/\]\(([^)#:]+)/g)].map(([, target = '']) => target);

it('there are pages for what people search for', () => {
  const titles = pages.map((page) => /^# (.*)$/m.exec(read(page))?.[1]);
  expect(titles).toEqual(
    expect.arrayContaining([
      ...['Backup and restore', 'Capacity planning', 'Upgrade and downgrade', 'systemd and PM2'],
      ...['Troubleshooting', 'FAQ', 'Glossary', 'UUIDv7, ULID, auto-increment or Leaf?'],
      ...['Comparison with other ID generators', 'Quick start', 'Configuration'],
    ]),
  );
});

it.each(pages)('docs/%s is in the index or in the page of its folder, and links back to the index', (page) => {
  const folder = dirname(page);
  const parents = ['README.md', ...(folder === '.' ? [] : [`${folder}.md`, `${folder}/README.md`])];
  const linked = parents
    .filter((parent) => parent !== page && existsSync(join(docs, parent)))
    .flatMap((parent) => linksOf(parent).map((link) => join(dirname(parent), link)));
  expect(linked).toContain(page);
  const first = read(page).split('\n\n')[1];
  const index = page.startsWith('zh/') && page !== 'zh/README.md' ? '[文档](README.md' : undefined;
  expect(first?.split(')')[0]).toBe(index ?? `[Documentation](${relative(folder, 'README.md')}`);
});

describe('docs/troubleshooting.md', () => {
  /** What the first columns of the tables quote. */
  const quoted = [...read('troubleshooting.md').matchAll(/^\| ([^|]+?) *\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  );
  /** Messages of Node.js and Nest. */
  const foreign = ['Do not know how to serialize a BigInt', "Nest can't resolve dependencies"];

  it('quotes messages that the code has', () => {
    const sources = ['libs', 'apps/leaf-server/src'].flatMap((folder) =>
      (readdirSync(join(ROOT, folder), { recursive: true }) as string[])
        .filter((file) => /(?<!\.spec|\.d)\.ts$/.test(file) && !/node_modules|dist/.test(file))
        .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
    );
    const messages = quoted.filter((text) => text.includes(' ') && !foreign.includes(text));
    expect(messages.length).toBeGreaterThan(8);
    expect(messages.filter((text) => !sources.some((source) => source.includes(text)))).toStrictEqual([]);
  });

  it('leaves error codes to docs/errors.md', () => {
    expect(quoted.filter((text) => text.startsWith('LEAF_'))).toStrictEqual([]);
  });
});
