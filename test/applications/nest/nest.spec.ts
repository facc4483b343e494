import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../support/build';
import { freePort } from '../../support/free-port';
import { command, pack, writeJson } from '../../support/packages';
import { blocksOf, namedBlocksOf, readPage } from '../../support/pages';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';
import { stepsOf, Terminal } from '../../support/terminal';
import { until } from '../../support/until';

const LIMIT_MS = 900_000;
const PAGE = readPage('docs/first-id-in-nest.md');
const COMPILER = join(ROOT, 'node_modules/.bin/tsc');
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
/** What an application has before it installs Leaf. */
const NEST = ['common', 'core', 'microservices', 'platform-express', 'platform-fastify', 'terminus', 'testing'];
const OTHERS = { 'reflect-metadata': '0.2', rxjs: '7', mysql2: '3', pg: '8', '@types/jest': '30', '@types/node': '20' };
const MAJORS = ['10', '11', '12'] as const;
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
  readonly health: Record<string, { readonly status: string; readonly details: unknown }>;
  readonly twoGlobals: string;
  readonly injected: { readonly biz_tag: string; readonly max_id: string; readonly jobs: string[] };
  readonly unhooked: { readonly id: string; readonly warnings: string[] };
}

let directory: string;
const folderOf = (nest: string): string => join(directory, `nest-${nest}`);

/** An application as `nest new` makes it, with the line of the page for its version. */
async function installApplication(nest: string): Promise<void> {
  const folder = folderOf(nest);
  await mkdir(folder);
  const dependencies = { ...Object.fromEntries(NEST.map((name) => [`@nestjs/${name}`, nest])), ...OTHERS };
  const scripts = { start: 'node dist/main.js' };
  await writeJson(join(folder, 'package.json'), { name: 'application', private: true, scripts, dependencies });
  const lines = stepsOf(blocksOf(PAGE, 'sh')[0]!).filter(({ shown }) => shown === `Nest ${nest}`);
  expect(lines).toHaveLength(1);
  const terminal = await Terminal.open(folder, { npm_config_ignore_scripts: 'true' });
  await terminal.run(lines[0]!.command);
  await terminal.close();
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-nest-'));
  await mkdir(join(directory, 'leaf'));
  await pack(join(directory, 'leaf/dist-packages'));
  for (const nest of MAJORS) await installApplication(nest);
}, LIMIT_MS);
afterAll(() => rm(directory, { recursive: true, force: true }));

describe.each(APPLICATIONS)('An application on Nest %s and %s', (nest, platform) => {
  let result: Result;

  beforeAll(async () => {
    const home = folderOf(nest);
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

  it('has the health of Leaf in Terminus', async () => {
    const degraded = nest === '12' ? ['degraded', 'degraded'] : ['ok', 'up'];
    expect(result.health).toMatchObject({
      up: { status: 'ok', details: { leaf: { status: 'up', state: 'up' } } },
      degraded: {
        status: degraded[0],
        details: { leaf: { status: degraded[1], state: 'degraded', segment: { status: 'degraded' } } },
      },
      down: { status: 'error', error: { leaf: { status: 'down', state: 'down' } } },
    });
    await copyFile(join(__dirname, 'programs/health.ts'), join(folderOf(nest), 'health.ts'));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
    const decorators = ['--experimentalDecorators', '--emitDecoratorMetadata', '--types', 'node'];
    await command(COMPILER, [...flags, ...decorators, 'health.ts'], folderOf(nest));
  });

  it('is refused with two global modules', () => {
    expect(result.twoGlobals).toBe('LEAF_CONFIG_INVALID');
  });

  it('injects the data source by its name, and stops a job through the scheduler', () => {
    const jobs = [
      'leaf-number-watch',
      'leaf-tag-ends',
      'leaf-tag-refresh',
      'leaf-time-report',
      'leaf-registry-maintenance',
    ];
    const read = { biz_tag: 'order', max_id: '9007199254740993', refusal: 'LEAF_CONFIG_INVALID' };
    expect(result.injected).toEqual({ ...read, jobs, later: 0 });
  });

  it('is warned when it has no shutdown hooks', () => {
    expect(result.unhooked.id).toBe('1');
    expect(result.unhooked.warnings).toContainEqual(expect.stringContaining('Call app.enableShutdownHooks().'));
  });
});

/** Compiles programs into the folder `dist`. */
async function compile(folder: string, programs: ReadonlyMap<string, string>, resolution: string): Promise<void> {
  for (const [name, text] of programs) await writeFile(join(folder, name), text);
  const module = resolution === 'node10' ? 'commonjs' : resolution;
  const flags = ['--module', module, '--moduleResolution', resolution, '--ignoreDeprecations', '6.0'];
  const others = ['--target', 'es2022', '--outDir', 'dist', '--strict', '--skipLibCheck', '--types', 'node,jest'];
  const decorators = ['--experimentalDecorators', '--emitDecoratorMetadata'];
  await command(COMPILER, [...flags, ...others, ...decorators, ...programs.keys()], folder);
}

it.each(['node10', 'nodenext'])('The programs of docs/testing.md compile with moduleResolution %s', (resolution) =>
  compile(folderOf('12'), namedBlocksOf(readPage('docs/testing.md'), 'ts'), resolution),
);

describe.each(MAJORS)('docs/first-id-in-nest.md on Nest %s', (nest) => {
  const programs = namedBlocksOf(PAGE, 'ts');
  const [, start = '', calls = ''] = blocksOf(PAGE, 'sh');
  let port: string;

  beforeAll(async () => {
    port = String(await freePort());
    // With the entity, the application starts with the other module.
    const main = programs
      .get('main.ts')!
      .replaceAll('AppModule', 'OrdersModule')
      .replace('app.module', 'orders.module');
    const postgres = programs.get('orders.module.ts')!.replace("'mysql'", "'postgres'");
    const files = new Map(programs).set('entity.ts', main).set('postgres/orders.module.ts', postgres);
    await mkdir(join(folderOf(nest), 'postgres'), { recursive: true });
    await compile(folderOf(nest), files.set('postgres/entity.ts', main), 'node10');
  });

  it('has programs and commands that run here', () => {
    expect([...programs.keys()]).toEqual(['app.module.ts', 'main.ts', 'app.spec.ts', 'orders.module.ts']);
    expect(blocksOf(PAGE, 'ts')).toHaveLength(programs.size);
    expect(blocksOf(PAGE, 'sh')).toHaveLength(3);
  });

  it('issues IDs from a file, and continues after a stop', async () => {
    const terminal = await Terminal.open(folderOf(nest), { PORT: port });
    await terminal.run(start);
    await until('a listener', () => listens(port));
    for (const { command: line, shown } of stepsOf(calls)) {
      expect((await terminal.run(line.replace('3000', port))).trim()).toBe(shown);
    }
    await terminal.run('kill %1; wait %1 || true');
    await terminal.run(start);
    await until('the second start', () => healthy(port));
    expect(await terminal.run(stepsOf(calls)[0]!.command.replace('3000', port))).toBe('{"id":"2"}');
    await terminal.close();
  });

  describe('on database servers', () => {
    let servers: [MariadbServer, PostgresServer];

    beforeAll(async () => (servers = await Promise.all([startMariadb(), startPostgres()])));
    afterAll(() => Promise.all(servers.map((server) => server.stop())));

    it('passes its tests within the time limit of Jest', async () => {
      const urls = await Promise.all(servers.map((server) => server.createDatabase()));
      for (const url of ['sqlite::memory:', ...urls]) await runSpec(folderOf(nest), nest, url);
    });

    it('fills the key of an entity', async () => {
      const folders = ['dist', 'dist/postgres'];
      for (const [index, server] of servers.entries()) {
        const env = { PORT: port, DATABASE_URL: await server.createDatabase() };
        const terminal = await Terminal.open(folderOf(nest), env);
        await terminal.run(`node ${folders[index]}/entity.js &`);
        await until('a listener', () => listens(port));
        const answer = await terminal.run(`curl -X POST http://127.0.0.1:${port}/orders`);
        expect(JSON.parse(answer)).toEqual({ id: '1', customer: 'Ada' });
        await terminal.close();
      }
    });
  });
});

/** Nest logs that it has started before it listens. */
function listens(port: string): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}

async function healthy(port: string): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Runs the test of the page with the settings of Jest for this version of Nest. */
async function runSpec(folder: string, nest: string, url: string): Promise<void> {
  const isEsm = nest === '12';
  if (isEsm) {
    for (const name of ['app.module', 'app.spec']) {
      const options = { target: ts.ScriptTarget.ES2022, experimentalDecorators: true, emitDecoratorMetadata: true };
      const compilerOptions = { ...options, module: ts.ModuleKind.ESNext };
      const { outputText } = ts.transpileModule(namedBlocksOf(PAGE, 'ts').get(`${name}.ts`)!, { compilerOptions });
      await writeFile(join(folder, `${name}.mjs`), outputText.replaceAll("'./app.module'", "'./app.module.mjs'"));
    }
  }
  const terminal = await Terminal.open(folder, { DATABASE_URL: url });
  const flags = `--rootDir . --testMatch '**/${isEsm ? 'app.spec.mjs' : 'dist/app.spec.js'}'`;
  await terminal.run(`node ${isEsm ? '--experimental-vm-modules ' : ''}${JEST} ${flags}`);
  await terminal.close();
}
