import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/build';
import { call } from '../support/http';
import { type MariadbServer, startMariadb } from '../support/mariadb';
import { command, install, outsideEnvironment, pack, versionsOf, writeJson } from '../support/packages';
import { until } from '../support/until';

/** npm may have to fetch what the applications need. */
const LIMIT_MS = 300_000;

let directory: string;
let tarballs: Map<string, string>;

async function makeFolder(name: string): Promise<string> {
  const folder = join(directory, name);
  await mkdir(folder);
  return folder;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-packages-'));
  tarballs = await pack(join(directory, 'tarballs'));
}, LIMIT_MS);
afterAll(() => rm(directory, { recursive: true, force: true }));

it('there is a package for each kind of use', () => {
  expect([...tarballs.keys()]).toEqual(expect.arrayContaining(['@leaf/core', '@leaf/id', '@leaf/orm']));
});

it('the packages are well made, and typed for CommonJS and ESM', async () => {
  for (const tarball of tarballs.values()) {
    const bin = join(ROOT, 'node_modules/.bin');
    await command(join(bin, 'publint'), ['run', tarball, '--strict'], ROOT);
    await command(join(bin, 'attw'), [tarball, '--profile', 'node16'], ROOT);
  }
});

it(
  'what needs no database brings nothing native, and hardly anything',
  async () => {
    const folder = await makeFolder('light');
    await writeJson(join(folder, 'package.json'), { name: 'light', private: true });
    const light = ['@leaf/core', '@leaf/client'].flatMap((name) => tarballs.get(name) ?? []);
    await install(folder, light);
    const lock = await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8');
    const { packages } = JSON.parse(lock) as { packages: Record<string, { hasInstallScript?: true; cpu?: string[] }> };
    const brought = Object.entries(packages);
    expect(brought.length - light.length).toBeLessThan(10);
    expect(brought.filter(([, { hasInstallScript, cpu }]) => hasInstallScript ?? cpu !== undefined)).toEqual([]);
    await command('node', ['-e', "require('@leaf/core')"], folder);
  },
  LIMIT_MS,
);

describe('a fresh Nest application', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await makeFolder('fresh');
    const names = ['@nestjs/common', '@nestjs/core', 'libsql', 'reflect-metadata', 'rxjs', '@types/node'];
    const dependencies = await versionsOf(names);
    await writeJson(join(folder, 'package.json'), { name: 'fresh', private: true, type: 'commonjs', dependencies });
    await install(
      folder,
      ['@leaf/core', '@leaf/id'].map((name) => tarballs.get(name)!),
    );
  }, LIMIT_MS);

  it('compiles and runs the program of the README', async () => {
    const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
    const program = /^```ts\n(.*?)^```/ms.exec(readme)![1]!;
    await writeFile(join(folder, 'main.ts'), `${program}\nvoid main();\n`);
    const flags = ['--module', 'nodenext', '--target', 'es2022', '--experimentalDecorators', '--emitDecoratorMetadata'];
    await command(
      join(ROOT, 'node_modules/.bin/tsc'),
      [...flags, '--strict', '--skipLibCheck', '--types', 'node', 'main.ts'],
      folder,
    );
    const output = await command('node', ['main.js'], folder);
    expect(output.trim().split('\n').at(-1)).toMatch(/^1n \d{17,19}n$/);
    expect((await command('node', ['main.js'], folder)).trim().split('\n').at(-1)).toMatch(/^2n /);
  });

  it('loads them from CommonJS and from ESM', async () => {
    const cjs = "const { IdModule } = require('@leaf/id'); const { IdService } = require('@leaf/core');";
    const esm = "import { IdModule } from '@leaf/id'; import { IdService } from '@leaf/core';";
    const check = "console.log(IdModule.name, IdService === (await import('@leaf/id')).IdService)";
    const wrapped = `${cjs} void (async () => { ${check} })()`;
    expect(await command('node', ['--input-type=commonjs', '-e', wrapped], folder)).toBe('IdModule true\n');
    expect(await command('node', ['--input-type=module', '-e', esm + check], folder)).toBe('IdModule true\n');
  });
});

describe('examples/order-service', () => {
  const children: ChildProcess[] = [];
  let folder: string;
  let mariadb: MariadbServer;

  beforeAll(async () => {
    folder = join(directory, 'order-service');
    await cp(join(ROOT, 'examples/order-service'), folder, { recursive: true });
    mariadb = await startMariadb();
    await install(
      folder,
      ['@leaf/core', '@leaf/id', '@leaf/orm'].map((name) => tarballs.get(name)!),
    );
    await command('npm', ['run', 'build'], folder);
  }, LIMIT_MS);
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await mariadb.stop();
  });

  it('takes orders, whose numbers do not count them', async () => {
    const databaseUrl = await mariadb.createDatabase();
    const env = { ...outsideEnvironment(), DATABASE_URL: databaseUrl, PORT: '0', ORDER_KEY: 'k'.repeat(32) };
    const child = spawn('node', ['dist/main.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    let log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (log += part.toString()));
    const ended = once(child, 'exit');
    const listening = await until(
      'the service',
      () => {
        if (child.exitCode !== null) throw new Error(`The service ended:\n${log}`);
        return /Listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(log) ?? undefined;
      },
      60_000,
    );
    const port = Number(listening[1]);
    expect((await call(port, '/health')).status).toBe(200);

    const orders: { number: string; lines: { id: string; article: string }[] }[] = [];
    for (const articles of [['pen', 'ink'], ['pad']]) {
      const body = JSON.stringify({ customer: 'Ada', articles });
      const headers = { 'content-type': 'application/json' };
      const answer = await call(port, '/orders', { method: 'POST', body, headers });
      expect(answer.status).toBe(201);
      orders.push(JSON.parse(answer.body) as (typeof orders)[number]);
    }
    const rows = await mariadb.query(`SELECT id FROM ${new URL(databaseUrl).pathname.slice(1)}.\`order\` ORDER BY id`);
    expect(rows.map(({ id }) => Number(id))).toEqual([1, 2]);
    for (const { number, lines } of orders) {
      expect(number).toMatch(/^ord_\d{8}$/);
      const found = await call(port, `/orders/${number}`);
      expect(JSON.parse(found.body)).toMatchObject({ number, lines });
      for (const { id } of lines) expect(id).toMatch(/^\d{17,19}$/);
    }
    expect((await call(port, '/orders/ord_123')).status).toBe(400);

    child.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    const [tag] = await mariadb.query(
      `SELECT max_id FROM ${new URL(databaseUrl).pathname.slice(1)}.leaf_alloc WHERE biz_tag = 'order'`,
    );
    expect(Number(tag?.max_id)).toBe(3);
  });
});
