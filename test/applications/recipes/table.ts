import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../support/build';
import type { Result } from './application';
import { COLUMNS, type Kind, type Recipe, SQL } from './recipes';

const FILE = join(ROOT, 'node_modules/.cache/leaf-recipes/tables.json');
const CELLS = { filled: 'key', refused: 'refused', skipped: 'no row', wrong: 'WRONG' } as const;

export type Outcomes = ReadonlyMap<Kind, readonly Result[]>;

/** The table of a recipe in docs/orm.md, with the databases of SQL that it was not tried on. */
export function tableOf({ kinds }: Recipe, outcomes: Outcomes): string[] {
  const columns: readonly Kind[] = kinds.includes('mongodb') ? kinds : SQL;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const ways = outcomes.get(kinds[0]!)!.map(({ way }) => way);
  const rows = ways.map((way) => [
    way,
    ...columns.map((kind) => {
      const result = outcomes.get(kind)?.find((one) => one.way === way);
      return result === undefined ? '–' : CELLS[result.outcome];
    }),
  ]);
  const header = ['way', ...columns.map((kind) => COLUMNS[kind])];
  return [header, header.map(() => '---'), ...rows].map(line);
}

const page = (): string => readFileSync(join(ROOT, 'docs/orm.md'), 'utf8');

/** The recipes whose tables docs/orm.md shows. */
export const documentedTitles = (): string[] => [...page().matchAll(/^### (.*)$/gm)].map(([, title = '']) => title);

export function documentedTable(title: string): string[] {
  const section = page()
    .split(/^(?=### |<!-- )/m)
    .find((part) => part.startsWith(`### ${title}\n`));
  const lines = (section ?? '').split('\n').filter((line) => line.startsWith('| '));
  // Prettier aligns the columns.
  return lines.map((line) => line.replace(/ +/g, ' ').replace(/-{3,}/g, '---'));
}

/** For `node test/applications/recipes/run.mjs --write-docs`. */
export function keepTables(tables: ReadonlyMap<string, readonly string[]>): void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(Object.fromEntries(tables), undefined, 2));
}
