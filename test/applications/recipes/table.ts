import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../support/build';
import type { Result } from './application';
import { COLUMNS, type Kind, type Recipe } from './recipes';

const FILE = join(ROOT, 'node_modules/.cache/leaf-recipes/tables.json');
const CELLS = { filled: 'key', refused: 'refused', skipped: 'no row', wrong: 'WRONG' } as const;

export type Outcomes = ReadonlyMap<Kind, readonly Result[]>;

/** The table of a recipe in test/applications/recipes/README.md: the ways of inserting by their outcome, which may differ between databases. */
export function tableOf({ kinds }: Recipe, outcomes: Outcomes): string[] {
  const waysOf = new Map<string, string[]>();
  for (const { way } of outcomes.get(kinds[0]!)!) {
    const outcome = outcomeOf(way, kinds, outcomes);
    waysOf.set(outcome, [...(waysOf.get(outcome) ?? []), way]);
  }
  const rows = [...waysOf].map(([outcome, ways]) => [outcome, ways.join('; ')]);
  return [['outcome', 'ways'], ['---', '---'], ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** `key`, or `key, SQLite: refused` where the databases differ. */
function outcomeOf(way: string, kinds: readonly Kind[], outcomes: Outcomes): string {
  const cells = kinds.flatMap((kind) => {
    const result = outcomes.get(kind)?.find((one) => one.way === way);
    return result === undefined ? [] : [{ kind, cell: CELLS[result.outcome] }];
  });
  const usual = cells.at(-1)!.cell;
  const others = cells.filter(({ cell }) => cell !== usual).map(({ kind, cell }) => `${COLUMNS[kind]}: ${cell}`);
  return [usual, ...others].join(', ');
}

const page = (): string => readFileSync(join(ROOT, 'test/applications/recipes/README.md'), 'utf8');

/** The recipes whose tables test/applications/recipes/README.md shows. */
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
