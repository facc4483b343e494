import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';
import { pack } from '../../support/packages';
import { Application, type Result } from './application';
import { CURRENT, type Kind, LOWEST_TYPEORM, type Recipe, TYPEORM_0 } from './recipes';
import { documentedTable, documentedTitles, keepTables, tableOf } from './table';

/** npm may have to fetch what the applications need, and the compiler checks all of it, on a busy machine. */
const LIMIT_MS = 900_000;

let directory: string;
let current: Application;
let older: Application;
let mariadb: MariadbServer;
let postgres: PostgresServer;
const tables = new Map<string, string[]>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-recipes-'));
  current = new Application(join(directory, 'current'), CURRENT);
  older = new Application(join(directory, 'older'), [TYPEORM_0]);
  const tarballs = [...(await pack(join(directory, 'tarballs'), ['libs/core', 'libs/orm'])).values()];
  const made = [current, older].map(async (application) => {
    await application.install(tarballs);
    await application.build();
  });
  [mariadb, postgres] = await Promise.all([startMariadb(), startPostgres(), ...made]);
}, LIMIT_MS);

afterAll(async () => {
  keepTables(tables);
  await Promise.all([mariadb.stop(), postgres.stop()]);
  await rm(directory, { recursive: true, force: true });
});

function createDatabase(recipe: Recipe, kind: Kind): Promise<string> {
  if (kind === 'mariadb') return mariadb.createDatabase();
  if (kind === 'postgres') return postgres.createDatabase();
  return Promise.resolve(join(directory, `${recipe.title}.sqlite`.replaceAll(' ', '-')));
}

const cases = [
  ...CURRENT.map((recipe) => ({ recipe, title: recipe.title, application: () => current })),
  { recipe: TYPEORM_0, title: TYPEORM_0.title, application: () => older },
];

describe.each(cases)('the recipe for $title', ({ application, recipe }) => {
  const outcomes = new Map<Kind, Result[]>();

  it.each(recipe.kinds)('gives each row on %s a key of Leaf, or refuses it', async (kind) => {
    const results = await application().run(recipe, kind, await createDatabase(recipe, kind));
    outcomes.set(kind, results);
    expect(results.filter(({ outcome }) => outcome === 'wrong')).toStrictEqual([]);
  });

  it('is described by test/applications/recipes/README.md', () => {
    const table = tableOf(recipe, outcomes);
    tables.set(recipe.title, table);
    expect(documentedTable(recipe.title)).toEqual(table);
  });
});

it.each([
  ['typeorm', 'test/fast/embedded/leaf-id.spec.ts'],
  [LOWEST_TYPEORM, 'test/services/embedded/leaf-id.spec.ts'],
])('%s 0.3 passes %s', (typeorm, suite) => older.runSuites(typeorm, [suite]), LIMIT_MS);

it('test/applications/recipes/README.md has a table of each recipe, and no other', () => {
  expect(documentedTitles().sort()).toEqual(cases.map(({ title }) => title).sort());
});
