import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../support/build';
import { freePort } from '../../support/free-port';
import { command, install, installPrograms, pack, writeJson } from '../../support/packages';

const LIMIT_MS = 900_000;
const PACKAGES = [
  '@leaf-ids/core',
  '@leaf-ids/id',
  '@leaf-ids/nest',
  '@types/jest',
  '@types/node',
  'libsql',
  'mysql2',
  'rxjs',
];
const NEST = ['common', 'core', 'platform-fastify', 'schedule', 'testing', 'typeorm'].map((name) => `@nestjs/${name}`);
/** Not installed in this repository. */
const OTHERS = ['@nestjs/platform-express@12', '@nestjs/microservices@12'];
/** The packages of an earlier Nest with other version numbers than Nest itself. */
const EARLIER = {
  '10': ['@nestjs/schedule@4', '@nestjs/typeorm@10', 'typeorm@0.3'],
  '11': ['@nestjs/schedule@6', '@nestjs/typeorm@11', 'typeorm@1'],
};
const APPLICATIONS = [
  ['12', 'express'],
  ['12', 'fastify'],
  ['11', 'fastify'],
  ['10', 'express'],
] as const;

interface Shown {
  readonly status: number;
  readonly type: string;
  readonly retryAfter: string | null;
  readonly body: unknown;
}

interface Result {
  readonly plain: Record<string, Shown>;
  readonly filtered: Record<string, Shown>;
  readonly tcp: unknown[];
  readonly overridden: string;
  readonly several: string[];
  readonly alone: { readonly segment: string; readonly snowflake: number; readonly registry: number[] };
  readonly unhooked: { readonly id: string; readonly warnings: string[] };
}

let directory: string;
/** The one on Nest 12. */
let folder: string;
let tarballs: Map<string, string>;

/** Installs an earlier Nest in a folder of its own. */
async function installEarlier(nest: keyof typeof EARLIER): Promise<void> {
  const earlier = join(directory, nest);
  await mkdir(earlier);
  await writeJson(join(earlier, 'package.json'), { name: 'earlier', private: true });
  const names = ['common', 'core', 'microservices', 'platform-express', 'platform-fastify', 'testing'];
  const own = names.map((name) => `@nestjs/${name}@${nest}`);
  const leaf = [...tarballs].flatMap(([name, file]) => (/\/(cli|client|orm)$/.test(name) ? [] : [file]));
  const others = ['libsql', 'mysql2', 'reflect-metadata@0.2', 'rxjs@7'];
  await install(earlier, [...leaf, ...own, ...EARLIER[nest], ...others]);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-nest-'));
  tarballs = await pack(join(directory, 'tarballs'));
  const programs = join(directory, 'programs');
  folder = join(programs, 'application');
  await mkdir(folder, { recursive: true });
  const dependencies = Object.fromEntries(
    [...PACKAGES, ...NEST, 'reflect-metadata', 'typeorm'].map((name) => [name, '*']),
  );
  await writeJson(join(folder, 'package.json'), { name: 'application', private: true, dependencies });
  await installPrograms(programs, ['application'], [...tarballs.values(), ...OTHERS]);
  await installEarlier('10');
  await installEarlier('11');
}, LIMIT_MS);
afterAll(() => rm(directory, { recursive: true, force: true }));

describe.each(APPLICATIONS)('An application on Nest %s and %s', (nest, platform) => {
  let result: Result;

  beforeAll(async () => {
    const home = nest === '12' ? folder : join(directory, nest);
    await copyFile(join(__dirname, 'programs/application.mjs'), join(home, 'application.mjs'));
    const output = await command('node', ['application.mjs', platform, String(await freePort())], home);
    result = JSON.parse(output) as Result;
  });

  it('responds to refusals with their status, without any setting', () => {
    const type = 'application/json';
    expect(result.plain).toMatchObject({
      refusal: { status: 503, type, body: { statusCode: 503, message: 'It is LEAF_SEGMENT_UNAVAILABLE.' } },
      input: { status: 400, type, body: { statusCode: 400, message: 'It is LEAF_TAG_INVALID.' } },
      fault: { status: 500, type, body: { statusCode: 500, message: 'Internal server error' } },
      bigints: { status: 500 },
    });
  });

  it('responds with problems and delays with LeafExceptionFilter', () => {
    const type = 'application/problem+json';
    expect(result.filtered).toMatchObject({
      refusal: { status: 503, type, retryAfter: '3', body: { code: 'LEAF_SEGMENT_UNAVAILABLE', status: 503 } },
      input: { status: 400, type, retryAfter: null, body: { code: 'LEAF_TAG_INVALID', status: 400 } },
      fault: { status: 500, type, retryAfter: null, body: { code: 'LEAF_INTERNAL', status: 500 } },
    });
  });

  it('writes bigints as strings with serializeBigInts', () => {
    const body = { id: '9223372036854775807', lines: [{ id: '1' }] };
    expect(result.filtered.bigints).toMatchObject({ status: 200, type: 'application/json', body });
  });

  it('survives refusals outside HTTP, where the filter leaves them to Nest', () => {
    const answer = { status: 'error', message: 'Internal server error' };
    expect(result.tcp).toEqual([answer, answer]);
  });

  it('opens no database when IdService is overridden', () => {
    expect(result.overridden).toBe('1');
  });

  it('has several modules, each with its own options', () => {
    expect(result.several).toEqual(['100', '2000', '30000']);
  });

  it('uses each part alone', () => {
    const { segment, snowflake, registry } = result.alone;
    expect([segment, registry]).toEqual(['1', [snowflake]]);
  });

  it('is warned when it has no shutdown hooks', () => {
    expect(result.unhooked.id).toBe('1');
    expect(result.unhooked.warnings).toContainEqual(expect.stringContaining('Call app.enableShutdownHooks().'));
  });
});

it.each(['node10', 'nodenext'])(
  'The programs of docs/testing.md compile with moduleResolution %s',
  async (resolution) => {
    const page = await readFile(join(ROOT, 'docs/testing.md'), 'utf8');
    const programs = [...page.matchAll(/^```ts\n\/\/ (\S+\.ts)\n(.*?)^```/gms)];
    for (const [, name = '', text = ''] of programs) await writeFile(join(folder, name), text);
    const module = resolution === 'node10' ? 'commonjs' : resolution;
    const flags = [
      '--module',
      module,
      '--moduleResolution',
      resolution,
      '--ignoreDeprecations',
      '6.0',
      '--target',
      'es2022',
    ];
    const decorators = ['--experimentalDecorators', '--emitDecoratorMetadata', '--types', 'node,jest'];
    const files = programs.map(([, name = '']) => name);
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    await command(compiler, ['--noEmit', '--strict', '--skipLibCheck', ...flags, ...decorators, ...files], folder);
  },
);
