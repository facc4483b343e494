import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { ensureBuilt, ROOT } from '../../support/build';
import { freePorts } from '../../support/free-port';
import { PackageRegistry } from '../../support/package-registry';
import { blocksOf, readPage } from '../../support/pages';
import { BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { launch } from '../../support/servers/launch';
import { call, text } from '../../support/http/http';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import {
  command,
  filesBelow,
  importedPackages,
  install,
  installPrograms,
  manifestOf,
  outsideEnvironment,
  pack,
  undeclaredImports,
  writeJson,
} from '../../support/packages';
import { makeClone, stepsOf, Terminal } from '../../support/terminal';
import { until } from '../../support/until';

/** npm may have to fetch what the applications need, on a busy machine. */
const LIMIT_MS = 900_000;
const FRESH = ['@nestjs/common', '@nestjs/core', 'libsql', 'reflect-metadata', 'rxjs', '@types/node'];
/**
 * Peers that no import names: the application hands its registry over, TypeORM loads one, a child process the other.
 */
const LOADED_BY_NAME: Record<string, readonly string[]> = {
  '@leaf-ids/id': ['prom-client'],
  '@leaf-ids/persistence': ['pg'],
  '@leaf-ids/registry': ['zookeeper'],
};
const EXAMPLES = ['order-service', 'remote-client'];

let directory: string;
let clone: string;
let tarballs: Map<string, string>;

beforeAll(async () => {
  await ensureBuilt();
  directory = await mkdtemp(join(tmpdir(), 'leaf-packages-'));
  clone = await makeClone();
  tarballs = await pack(join(clone, 'dist-packages'));
}, LIMIT_MS);
afterAll(() => Promise.all([directory, clone].map((folder) => rm(folder, { recursive: true, force: true }))));

it('there is a package of each library', () => {
  const names = ['cli', 'client', 'core', 'id', 'migrations', 'nest', 'orm', 'persistence', 'registry'];
  expect([...tarballs.keys()].sort()).toEqual(names.map((name) => `@leaf-ids/${name}`));
});

it('the packages are well made, and typed for CommonJS, ESM and the resolution of Node 10', async () => {
  const bin = join(ROOT, 'node_modules/.bin');
  const checks = [...tarballs.values()].flatMap((tarball) => [
    command(join(bin, 'publint'), ['run', tarball, '--strict'], ROOT),
    command(join(bin, 'attw'), [tarball], ROOT),
  ]);
  await Promise.all(checks);
});

it('each entry point of a package is CommonJS and ESM', async () => {
  const names = [...tarballs.keys()].map((name) => name.replace('@leaf-ids/', ''));
  for (const name of names) {
    const folder = join(ROOT, name === 'migrations' ? name : `libs/${name}`);
    for (const [path, files] of Object.entries((await manifestOf(folder)).exports ?? {})) {
      if (path === './package.json') continue;
      const file = `./dist/${path === '.' ? 'index' : path.slice(2)}`;
      // Node loads the same file for `import` and `require`: two copies of a class would differ.
      const expected = { 'module-sync': `${file}.mjs`, import: `${file}.mjs`, default: `${file}.js` };
      expect({ name, path, files }).toEqual({ name, path, files: expected });
    }
  }
});

describe('the client in an empty folder', () => {
  let folder: string;

  beforeAll(async () => {
    folder = join(directory, 'light');
    await mkdir(folder);
    await writeJson(join(folder, 'package.json'), { name: 'light', private: true });
    await install(
      folder,
      ['@leaf-ids/core', '@leaf-ids/client'].map((name) => tarballs.get(name)!),
    );
  }, LIMIT_MS);

  it('brings nothing native, and hardly anything', async () => {
    const lock = await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8');
    const { packages } = JSON.parse(lock) as { packages: Record<string, { hasInstallScript?: true; cpu?: string[] }> };
    const brought = Object.entries(packages);
    process.stdout.write(`@leaf-ids/client and all that it brings: ${brought.length} packages\n`);
    expect(brought.length).toBeLessThan(10);
    expect(brought.filter(([, { hasInstallScript, cpu }]) => hasInstallScript ?? cpu !== undefined)).toStrictEqual([]);
    const files = await filesBelow(join(folder, 'node_modules'));
    expect(files).toContain(join(folder, 'node_modules/@leaf-ids/client/package.json'));
    expect(files.filter((file) => file.endsWith('.node') || file.includes('/@nestjs/'))).toStrictEqual([]);
  });

  it('loads from CommonJS and from ESM, without Nest', async () => {
    const check = 'console.log(LeafClient.name, LeafClient.prototype instanceof IdService)';
    const cjs = "const { LeafClient } = require('@leaf-ids/client'); const { IdService } = require('@leaf-ids/core');";
    const esm = "import { LeafClient } from '@leaf-ids/client'; import { IdService } from '@leaf-ids/core';";
    expect(await command('node', ['--input-type=commonjs', '-e', cjs + check], folder)).toBe('LeafClient true\n');
    expect(await command('node', ['--input-type=module', '-e', esm + check], folder)).toBe('LeafClient true\n');
  });
});

describe('the command leaf in an empty folder', () => {
  let folder: string;

  beforeAll(async () => {
    folder = join(directory, 'command');
    await mkdir(folder);
    await writeJson(join(folder, 'package.json'), { name: 'command', private: true });
    await install(
      folder,
      ['@leaf-ids/core', '@leaf-ids/client', '@leaf-ids/cli'].map((name) => tarballs.get(name)!),
    );
  }, LIMIT_MS);

  it('runs by npm, without Nest and native code', async () => {
    const { version } = await manifestOf(join(ROOT, 'libs/cli'));
    expect(await command('npm', ['exec', '--', 'leaf', '--version'], folder)).toBe(`${version}\n`);
    const decoded = await command('npm', ['exec', '--', 'leaf', 'decode', '1169786042799259000', '--json'], folder);
    expect(JSON.parse(decoded)).toMatchObject({ workerId: 39, sequence: 3448 });
    const files = await filesBelow(join(folder, 'node_modules'));
    expect(files.filter((file) => file.endsWith('.node') || file.includes('/@nestjs/'))).toStrictEqual([]);
  });

  it('names the package that a database needs', async () => {
    const run = command('npm', ['exec', '--', 'leaf', 'tags', '--database', 'sqlite:leaf.sqlite'], folder);
    await expect(run).rejects.toThrow(/\nleaf: A database needs the package @leaf-ids\/id and a driver: npm install /);
  });
});

describe('programs', () => {
  const servers = new BuiltServers();
  const running: BuiltServer[] = [];
  let programs: string;
  let mariadb: MariadbServer;

  beforeAll(async () => {
    programs = join(directory, 'programs');
    for (const example of EXAMPLES)
      await cp(join(ROOT, 'examples', example), join(programs, example), { recursive: true });
    await mkdir(join(programs, 'fresh'));
    const dependencies = Object.fromEntries([...FRESH, '@leaf-ids/id'].map((name) => [name, '*']));
    await writeJson(join(programs, 'fresh/package.json'), { name: 'fresh', private: true, dependencies });
    await installPrograms(programs, ['fresh', ...EXAMPLES], tarballs.values());
    mariadb = await startMariadb();
  }, LIMIT_MS);
  afterEach(async () => {
    await Promise.all(running.splice(0).map((program) => program.kill()));
    await servers.end();
  });
  afterAll(() => mariadb.stop());

  /** Starts an example and waits until it listens. */
  async function start(folder: string, env: NodeJS.ProcessEnv): Promise<BuiltServer> {
    const settings = { ...outsideEnvironment(), PORT: '0', ...env };
    const child = launch({ command: ['node', 'dist/main.js'], cwd: folder, env: settings });
    const program = new BuiltServer(folder, child);
    running.push(program);
    await program.listening();
    return program;
  }

  /** A Leaf server that gives IDs of both kinds. */
  async function startLeaf(env: NodeJS.ProcessEnv): Promise<BuiltServer> {
    const server = await servers.start(await servers.makeDirectory(), env);
    await until('readiness', async () => (await call(server.port, '/health/ready')).status === 200, LIMIT_MS);
    return server;
  }

  /** Places an order; what the example logged tells why it does not. */
  async function place<T>({ port, stdout, stderr }: BuiltServer, order: unknown): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const answer = await call(port, '/orders', { method: 'POST', body: JSON.stringify(order), headers });
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.body}\n${stdout}${stderr}`);
    return JSON.parse(answer.body) as T;
  }

  it('the one of the README compiles and runs', async () => {
    const folder = join(programs, 'fresh');
    const [program = ''] = blocksOf(readPage('README.md'), 'ts');
    // The other programs brought a driver that this one does without.
    const drivers = "Object.keys(require.cache).filter((file) => file.includes('/mysql2/')).length";
    await writeFile(join(folder, 'main.ts'), `${program}\nvoid main().then(() => console.log(${drivers}));\n`);
    const flags = ['--module', 'nodenext', '--target', 'es2022', '--experimentalDecorators', '--emitDecoratorMetadata'];
    await command(
      join(ROOT, 'node_modules/.bin/tsc'),
      [...flags, '--strict', '--skipLibCheck', '--types', 'node', 'main.ts'],
      folder,
    );
    expect(await command('node', ['main.js'], folder)).toMatch(/^1n \d{17,19}n\n(?:.*\n)?0\n$/m);
    expect(await command('node', ['main.js'], folder)).toMatch(/^2n \d{17,19}n\n(?:.*\n)?0\n$/m);
    const leaf = ['exec', '--', 'leaf', 'next', 'order', '-n', '2', '--database', 'sqlite:./data/leaf.sqlite'];
    expect(await command('npm', leaf, folder)).toBe('3\n4\n');
  });

  it('the packages declare what they import, what their own packages ask for, and nothing else', async () => {
    const folderOf = (name: string): string => join(programs, 'node_modules', name);
    for (const name of tarballs.keys()) {
      const { dependencies = {}, peerDependencies = {} } = await manifestOf(folderOf(name));
      const own = Object.keys(dependencies).filter((dependency) => tarballs.has(dependency));
      const manifests = await Promise.all(own.map((dependency) => manifestOf(folderOf(dependency))));
      const passedOn = manifests.flatMap((manifest) => Object.keys(manifest.peerDependencies ?? {}));
      const imported = await importedPackages(join(folderOf(name), 'dist'));
      const needed = new Set([...imported, ...passedOn, ...(LOADED_BY_NAME[name] ?? [])]);
      const declared = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
      expect({ name, declared: declared.sort() }).toEqual({ name, declared: [...needed].sort() });
    }
  });

  it('they load the packages from CommonJS and from ESM', async () => {
    const folder = join(programs, 'fresh');
    const cjs = "const { IdModule } = require('@leaf-ids/id'); const { IdService } = require('@leaf-ids/core');";
    const esm = "import { IdModule } from '@leaf-ids/id'; import { IdService } from '@leaf-ids/core';";
    const check = "console.log(IdModule.name, IdService === (await import('@leaf-ids/id')).IdService)";
    const wrapped = `${cjs} void (async () => { ${check} })()`;
    expect(await command('node', ['--input-type=commonjs', '-e', wrapped], folder)).toBe('IdModule true\n');
    expect(await command('node', ['--input-type=module', '-e', esm + check], folder)).toBe('IdModule true\n');
  });

  it.each(EXAMPLES)('examples/%s names all that it imports', async (example) => {
    expect(await undeclaredImports(join(programs, example))).toStrictEqual([]);
  });

  it('examples/order-service takes orders, whose numbers do not count them', async () => {
    const folder = join(programs, 'order-service');
    await command('npm', ['run', 'build'], folder);
    const databaseUrl = await mariadb.createDatabase();
    const database = new URL(databaseUrl).pathname.slice(1);
    const program = await start(folder, { DATABASE_URL: databaseUrl, ORDER_KEY: 'k'.repeat(32) });
    const { port } = program;
    expect((await call(port, '/health')).status).toBe(200);

    const orders: { number: string; lines: { id: string; article: string }[] }[] = [];
    for (const articles of [['pen', 'ink'], ['pad']]) {
      orders.push(await place(program, { customer: 'Ada', articles }));
    }
    const rows = await mariadb.query(`SELECT id FROM ${database}.\`order\` ORDER BY id`);
    expect(rows.map(({ id }) => Number(id))).toEqual([1, 2]);
    for (const { number, lines } of orders) {
      expect(number).toMatch(/^ord_\d{8}$/);
      const found = await call(port, `/orders/${number}`);
      expect(JSON.parse(found.body)).toMatchObject({ number, lines });
      for (const { id } of lines) expect(id).toMatch(/^\d{17,19}$/);
    }
    expect((await call(port, '/orders/ord_123')).status).toBe(400);

    program.signal('SIGTERM');
    expect(await program.exit()).toEqual({ code: null, signal: 'SIGTERM' });
    const [tag] = await mariadb.query(`SELECT max_id FROM ${database}.leaf_alloc WHERE biz_tag = 'order'`);
    expect(Number(tag?.max_id)).toBe(3);
  });

  it('examples/remote-client has its IDs from whichever server there is, and says what it drops', async () => {
    const folder = join(programs, 'remote-client');
    await command('npm', ['run', 'build'], folder);
    const databaseUrl = await mariadb.createDatabase();
    const env = { LEAF_DATABASE_URL: databaseUrl, LEAF_SNOWFLAKE_REGISTRY: 'mysql' };
    const near = await startLeaf({ ...env, LEAF_ADVERTISE_PORT: '8080' });
    const far = await startLeaf({ ...env, LEAF_ADVERTISE_PORT: '8081' });
    const database = new URL(databaseUrl).pathname.slice(1);
    await mariadb.query(`INSERT INTO ${database}.leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 1000)`);
    const settings = {
      ZONE: 'a',
      LEAF_SERVERS: JSON.stringify([
        { url: `http://127.0.0.1:${far.port}`, zone: 'b' },
        { url: `http://127.0.0.1:${near.port}`, zone: 'a' },
      ]),
    };
    // From now on, an ID tells which of them it is from.
    const ids = [await text(near.port, '/api/segment/get/order'), await text(far.port, '/api/segment/get/order')];
    expect(ids).toEqual(['1', '1001']);
    const order = async (program: BuiltServer, count: number): Promise<void> => {
      for (let made = 0; made < count; made++) {
        const { id, events } = await place<{ id: string; events: string[] }>(program, {});
        expect(events).toEqual([expect.stringMatching(/^\d{17,19}$/)]);
        ids.push(id, ...events);
      }
    };

    // Fewer than a tenth of what is fetched at the start: no more is.
    const brief = await start(folder, settings);
    await order(brief, 5);
    expect(ids.filter((id) => id.length < 17)).toEqual(['1', '1001', '2', '3', '4', '5', '6']);
    brief.signal('SIGTERM');
    expect(await brief.exit()).toEqual({ code: null, signal: 'SIGTERM' });
    expect(brief.stdout).toMatch(/Closed; unused prefetched IDs: 95 of order, \d+ snowflake IDs\./);

    const lasting = await start(folder, settings);
    await order(lasting, 20);
    await near.kill();
    await order(lasting, 400);
    lasting.signal('SIGTERM');
    expect(await lasting.exit()).toEqual({ code: null, signal: 'SIGTERM' });
    expect(lasting.stdout).toContain(`http://127.0.0.1:${near.port}/ failed and gets no requests for`);
    expect(ids).toContain('1002');
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('the commands of READMEs, as they stand there,', () => {
  const terminals: Terminal[] = [];
  let mariadb: MariadbServer;
  let ports: { 3000: number; 3306: number; 8080: number; 8081: number };

  beforeAll(async () => {
    await mkdir(join(clone, 'examples'));
    for (const example of EXAMPLES)
      await cp(join(ROOT, 'examples', example), join(clone, 'examples', example), { recursive: true });
    mariadb = await startMariadb();
    const [application, server, absent] = await freePorts(3);
    ports = { 3000: application!, 3306: mariadb.port, 8080: server!, 8081: absent! };
  }, LIMIT_MS);
  afterEach(() => Promise.all(terminals.splice(0).map((terminal) => terminal.close())));
  afterAll(() => mariadb.stop());

  async function open(folder: string, env: NodeJS.ProcessEnv = {}): Promise<Terminal> {
    const found = { MYSQL_TCP_PORT: String(mariadb.port), npm_config_ignore_scripts: 'true', ...env };
    const terminal = await Terminal.open(folder, found);
    terminals.push(terminal);
    return terminal;
  }

  /** With the ports of this test in place of those in the README. */
  function here(text: string): string {
    return Object.entries(ports).reduce((left, [port, own]) => left.replaceAll(`:${port}`, `:${own}`), text);
  }

  const blocksOfExample = (name: string): string[] => blocksOf(readPage(`examples/${name}/README.md`), 'sh').map(here);

  it('install and start examples/order-service', async () => {
    const [root, install = '', order = '', ...others] = blocksOfExample('order-service');
    expect([root, ...others]).toEqual(['npm ci && npm run pack\n']);
    const terminal = await open(join(clone, 'examples/order-service'), { PORT: String(ports[3000]) });
    await terminal.run(install);
    await terminal.shows('Listening on');
    expect(JSON.parse(await terminal.run(order))).toMatchObject({
      number: expect.stringMatching(/^ord_\d{8}$/),
      lines: [{ article: 'pen' }, { article: 'ink' }],
    });
  });

  it('install and start examples/remote-client', async () => {
    const readme = readPage('examples/remote-client/README.md');
    const [root = '', create = '', install = '', order = '', ...others] = blocksOfExample('remote-client');
    expect(others).toStrictEqual([]);
    const built = 'npm ci && npm run build && npm run pack\n';
    expect(root).toContain(built);
    const server = await open(clone, { LEAF_HOST: '127.0.0.1', LEAF_PORT: String(ports[8080]) });
    await server.run(root.replace(built, ''));
    await server.shows('Listening on');
    await server.run(create);
    const terminal = await open(join(clone, 'examples/remote-client'), { PORT: String(ports[3000]) });
    await terminal.run(install);
    await terminal.shows('Listening on');
    const [{ command: line, shown } = { command: '', shown: '' }] = stepsOf(order);
    const withoutTime = (text = ''): string => text.trim().replace(/\d{19}/, '…');
    expect(withoutTime(await terminal.run(line))).toBe(withoutTime(shown));
    await terminal.run('kill %1; wait %1 || true');
    const [, closed = ''] = /`(Closed; [^`]*)`/.exec(readme)!;
    expect(closed).not.toBe('');
    // The program may end after npm.
    await terminal.shows(closed);
  });

  describe('in an application', () => {
    const LIBRARIES = ['cli', 'client', 'core', 'id', 'nest', 'orm'];
    const registryServers = new BuiltServers();
    let registry: PackageRegistry;
    let folder: string;
    let url: string;

    beforeAll(async () => {
      registry = await PackageRegistry.start(tarballs);
      folder = join(directory, 'readmes');
      await mkdir(folder);
      const dependencies = { '@nestjs/common': '12', '@nestjs/core': '12', mysql2: '3', rxjs: '7' };
      await writeJson(join(folder, 'package.json'), { name: 'application', private: true, dependencies });
      await writeFile(join(folder, '.npmrc'), registry.npmrc('@leaf-ids'));
      url = await mariadb.createDatabase();
      const server = await registryServers.start(await registryServers.makeDirectory(), {
        ...{ LEAF_DATABASE_URL: url, LEAF_SNOWFLAKE_REGISTRY: 'database', LEAF_PORT: String(ports[8080]) },
      });
      await until('readiness', async () => (await call(server.port, '/health/ready')).status === 200, LIMIT_MS);
      await mariadb.query(
        `INSERT INTO ${new URL(url).pathname.slice(1)}.leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 2000)`,
      );
    }, LIMIT_MS);
    afterAll(async () => {
      await registryServers.end();
      await registry.stop();
    });

    /** The README with the database and the server of this test. */
    const readmeOf = (name: string): string =>
      here(readPage(`libs/${name}/README.md`)).replaceAll(/mysql:\/\/leaf:secret@[^ ']+/g, url);

    it.each(LIBRARIES)(
      'install @leaf-ids/%s by its name',
      async (name) => {
        const terminal = await open(folder);
        const steps = blocksOf(readmeOf(name), 'sh').flatMap(stepsOf);
        const lines = steps.filter(({ shown }) => shown === undefined || shown === 'Nest 12');
        expect(lines.length).toBeGreaterThan(0);
        for (const { command: line } of lines) {
          const written = await terminal.run(line);
          if (line.includes('leaf next')) expect(written).toBe('1\n2\n3\n4\n5\n');
          if (line.includes('leaf range')) expect(JSON.parse(written)).toMatchObject({ tag: 'order' });
        }
      },
      LIMIT_MS,
    );

    it.each(['client', 'id'])('run the program of @leaf-ids/%s', async (name) => {
      const [program = ''] = blocksOf(readmeOf(name), 'ts');
      const output = await runProgram(`${name}.cjs`, `${program}\nvoid main();`);
      expect(output).toMatch(/^\d+n\n\d{19}n$/m);
    });

    it('run the program of @leaf-ids/orm', async () => {
      const [program = ''] = blocksOf(readmeOf('orm'), 'ts').map((text) =>
        text.replace('entities:', 'synchronize: true, entities:'),
      );
      const save = `
        import { NestFactory } from '@nestjs/core';
        import { DataSource } from 'typeorm';
        void NestFactory.createApplicationContext(AppModule, { logger: false }).then(async (app) => {
          const { manager } = app.get(DataSource);
          const order = await manager.save(manager.create(Order, { customer: 'Ada' }));
          const event = await manager.save(manager.create(Event, {}));
          console.log(order.id, event.id);
          await app.close();
        });`;
      expect(await runProgram('orm.cjs', program + save)).toMatch(/^\d+ \d{19}$/m);
    });

    async function runProgram(file: string, program: string): Promise<string> {
      const options = { target: ts.ScriptTarget.ES2022, experimentalDecorators: true, emitDecoratorMetadata: true };
      const compilerOptions = { ...options, module: ts.ModuleKind.CommonJS };
      await writeFile(join(folder, file), ts.transpileModule(program, { compilerOptions }).outputText);
      return command('node', [file], folder);
    }
  });
});
