import { readFileSync } from 'node:fs';
import { cp, readdir, readFile } from 'node:fs/promises';
import * as nodeModule from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { ensureBuilt, ROOT, SERVER_FILE } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';

const servers = new BuiltServers();
/** Packages that only other settings, or later requests, need. */
const UNUSED = /^(mysql2|pg|zookeeper|class-validator|@nestjs\/swagger|@opentelemetry\/(?!api$).*)$/;
/** With a bundle, the number of files stays small; every further one costs time at each start. */
const MAX_FILES = 40;

beforeAll(ensureBuilt);
afterAll(() => servers.end());

/** The CommonJS files that a server with the default settings has loaded when it listens. */
async function loadedFiles(): Promise<readonly string[]> {
  const directory = await servers.makeDirectory();
  const list = join(directory, 'loaded.json');
  const server = await servers.start(directory, {
    NODE_OPTIONS: `--require=${join(__dirname, '../support/fixtures/loaded-files.cjs')}`,
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
  expect([...outside].filter((name) => !dependencies.some((each) => name?.startsWith(each)))).toStrictEqual([]);
  expect([...bundled]).toEqual(expect.arrayContaining(['@nestjs/core', 'fastify', 'typeorm']));
  expect([...outside, ...bundled].filter((name) => UNUSED.test(name ?? ''))).toStrictEqual([]);
  expect(files.length).toBeLessThan(MAX_FILES);
});

describe('without packages beside the bundle', () => {
  let copy: string;
  let copies: BuiltServers;
  beforeAll(async () => {
    copy = await servers.makeDirectory();
    const source = relative(ROOT, dirname(SERVER_FILE));
    for (const part of ['package.json', join(source, 'main.js'), join(source, 'chunks')]) {
      await cp(join(ROOT, part), join(copy, part), { recursive: true });
    }
    copies = new BuiltServers([process.execPath, join(copy, source, 'main.js')]);
  });
  afterAll(() => copies.end());

  it.each([
    ['pg', 'postgres://leaf@127.0.0.1:1/leaf'],
    ['pg', 'postgres://leaf@127.0.0.1:1,127.0.0.1:2/leaf'],
    ['mysql2', 'mysql://leaf@127.0.0.1:1/leaf'],
    ['libsql', 'sqlite:leaf.sqlite'],
  ])('a start names the package %s, which %s needs', async (name, url) => {
    const server = copies.spawn(await copies.makeDirectory(), { LEAF_DATABASE_URL: url });
    expect(await server.exit()).toEqual({ code: 1, signal: null });
    const message = new RegExp(`^leaf-server cannot start: LEAF_CONFIG_INVALID: .* needs? the package ${name}, `);
    expect(server.stderr).toMatch(message);
  });

  it('compiled code is not kept where other users write', async () => {
    const directory = await copies.makeDirectory();
    const server = copies.spawn(directory, { TMPDIR: directory }, ['--version']);
    expect(await server.exit()).toEqual({ code: 0, signal: null });
    expect(await readdir(directory)).toStrictEqual([]);
    // Node.js 20 has no such cache.
    const kept = await readdir(join(copy, 'node_modules/.cache/leaf-server')).catch(() => []);
    expect(kept).toHaveLength('enableCompileCache' in nodeModule ? 1 : 0);
  });
});
