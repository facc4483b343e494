import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';

const servers = new BuiltServers();
/** Packages that only other settings, or later requests, need. */
const UNUSED = /^(mysql2|pg|zookeeper|class-validator|@nestjs\/swagger|@opentelemetry\/(?!api$).*)$/;
/** With a bundle, the number of files stays small; every further one costs time at each start. */
const MOST_FILES = 40;

beforeAll(ensureBuilt);
afterAll(() => servers.end());

/** The CommonJS files that a server with the default settings has loaded when it listens. */
async function loadedFiles(): Promise<readonly string[]> {
  const directory = await servers.makeDirectory();
  const list = join(directory, 'loaded.json');
  const server = await servers.start(directory, {
    NODE_OPTIONS: `--require=${join(__dirname, '../fixtures/loaded-files.cjs')}`,
    LOADED_FILES: list,
  });
  server.signal('SIGTERM');
  await server.exit();
  return JSON.parse(await readFile(list, 'utf8')) as string[];
}

function packageOf(path: string): string | undefined {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path.replaceAll(sep, '/'))?.[1];
}

/** The packages whose code a chunk of the bundle contains; its comments name the files. */
function packagesIn(file: string): (string | undefined)[] {
  return [...readFileSync(file, 'utf8').matchAll(/^\/\/ (node_modules\/.*)$/gm)].map(([, path = '']) =>
    packageOf(path),
  );
}

it('a start on SQLite loads few files, and no package of other settings', async () => {
  const files = await loadedFiles();
  const outside = new Set(files.filter((file) => packageOf(file) !== undefined).map(packageOf));
  const bundled = new Set(files.filter((file) => packageOf(file) === undefined).flatMap(packagesIn));
  const dependencies = ['@libsql/', '@neon-rs/load', 'detect-libc', 'libsql'];
  expect([...outside].filter((name) => !dependencies.some((each) => name?.startsWith(each)))).toEqual([]);
  expect([...bundled]).toEqual(expect.arrayContaining(['@nestjs/core', 'fastify', 'typeorm']));
  expect([...outside, ...bundled].filter((name) => UNUSED.test(name ?? ''))).toEqual([]);
  expect(files.length).toBeLessThan(MOST_FILES);
});
