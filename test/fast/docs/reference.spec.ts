import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ERROR_CATALOGUE } from '@leaf-ids/core';
import { VARIABLES } from '../../../apps/leaf-server/src/config/variables';

const root = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const below = (folder: string): string[] =>
  (readdirSync(join(root, folder), { recursive: true }) as string[]).map((file) => join(folder, file));
const pages = [
  ...['README.md', 'README.zh.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...['bench', 'docs', 'examples', 'libs', 'migrations', 'test']
    .flatMap(below)
    .filter((file) => file.endsWith('.md') && !/node_modules|dist/.test(file)),
];

/** The anchors of the headings of a page, as GitHub makes them. A comment in a code block is not a heading. */
function anchorsOf(file: string): string[] {
  const text = read(file).replace(/^```.*?^```/gms, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the reference pages', () => {
  it('.env.example has every variable with its default, and no other', () => {
    const lines = [...read('.env.example').matchAll(/^# ((?:LEAF|OTEL|KUBERNETES)_[A-Z_]+)=(.*)$/gm)];
    const listed = lines.map(([, name, value]) => [name, value]);
    expect(listed).toEqual(Object.entries(VARIABLES).map(([name, variable]) => [name, variable.default ?? '']));
  });

  it('docs/configuration.md has every variable with its default, and no other', () => {
    const rows = [...read('docs/configuration.md').matchAll(/^\| `((?:LEAF|OTEL|KUBERNETES)_[A-Z_]+)` \| (.*?) \|/gm)];
    expect(rows.map(([, name]) => name)).toEqual(Object.keys(VARIABLES));
    for (const [, name, value] of rows) {
      const { default: fallback } = VARIABLES[name as keyof typeof VARIABLES];
      if (typeof fallback === 'string') expect([name, value]).toEqual([name, `\`${fallback}\``]);
    }
  });

  it('docs/configuration.md names the variables that may not be empty, and no other', () => {
    const [, list = ''] = /It is refused if ([^:]+: [^\n]*?)\. If values/.exec(read('docs/configuration.md')) ?? [];
    const named = [...list.matchAll(/`(LEAF_[A-Z_]+)`/g)].map(([, name]) => name);
    const expected = Object.entries(VARIABLES).flatMap(([name, { neverEmpty }]) => (neverEmpty ? [name] : []));
    expect([...named].sort()).toEqual(expected.sort());
  });

  it('docs/errors.md has every code with its status and what to check first, and no other', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(LEAF_[A-Z_]+)` \| (\d+) \|/gm)];
    const listed = rows.map(([, code, status]) => [code, Number(status)]);
    const catalogue = Object.entries(ERROR_CATALOGUE).map(([code, { status }]) => [code, status]);
    expect(new Map(listed as [string, number][])).toEqual(new Map(catalogue as [string, number][]));
    expect(listed).toHaveLength(catalogue.length);
    const checked = [...read('docs/errors.md').matchAll(/^\| `LEAF_[A-Z_]+`(?: \| [^|]*[^|\s][^|]*){3}\|$/gm)];
    expect(checked).toHaveLength(listed.length);
  });

  it.each(pages)('%s links to pages that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target]) => target as string);
    const local = targets.filter((target) => !target.includes('://'));
    expect(local.filter((target) => !existsSync(join(root, dirname(page), target)))).toStrictEqual([]);
  });

  it.each(pages)('%s links to headings that exist', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)].map(([, target = '', anchor = '']) => ({
      file: target === '' ? page : join(dirname(page), target),
      anchor,
    }));
    expect(links.filter(({ file, anchor }) => !anchorsOf(file).includes(anchor))).toStrictEqual([]);
  });

  it('docs/how-to-extend.md names files that exist', () => {
    const names = [...read('docs/how-to-extend.md').matchAll(/`((?:apps|libs|migrations|test)\/[^`<>]+)`/g)];
    expect(names.length).toBeGreaterThan(30);
    expect(names.map(([, name = '']) => name).filter((name) => !existsSync(join(root, name)))).toStrictEqual([]);
  });

  it('messages name pages and headings that exist', () => {
    const sources = ['libs', 'apps/leaf-server'].flatMap((folder) =>
      (readdirSync(join(root, folder), { recursive: true }) as string[])
        .filter((file) => /(?<!\.spec)\.ts$/.test(file) && !/node_modules|dist/.test(file))
        .map((file) => join(folder, file)),
    );
    const links = sources.flatMap((source) => [...read(source).matchAll(/(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)]);
    const broken = ([, file = '', anchor]: RegExpExecArray): boolean =>
      !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter(broken)).toStrictEqual([]);
  });
});
