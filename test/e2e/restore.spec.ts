import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ADMIN_TOKEN, admin } from '../support/http/admin';
import { json } from '../support/http/http';
import { ensureBuilt, ROOT } from '../support/build';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { type MariadbServer, startMariadb } from '../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../support/servers/postgres';
import { requireTool } from '../support/tools';
import { ready } from '../support/servers/readiness';

interface Ranges {
  readonly ranges: readonly { readonly from: string; readonly to: string }[];
}

const PAGE = readFileSync(join(ROOT, 'docs/operations/backup.md'), 'utf8');

/** The lines of the page for an engine, of all blocks of this language below a heading. */
function linesOf(heading: string, language: string, engine: string): string {
  const section = PAGE.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const blocks = [...section.matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms)].filter(([, , kind]) => kind === language);
  const lines = blocks.flatMap(([, , , text = '']) => {
    let engines = '';
    return text.split('\n').filter((line) => {
      const comment = /^ *(?:#|--) (.*)$/.exec(line)?.[1];
      engines = comment ?? engines;
      return comment === undefined && engines.split(', ').includes(engine);
    });
  });
  if (lines.length === 0) throw new Error(`The page has no ${language} for ${engine} below ${heading}`);
  return lines.map((line) => line.trim()).join('\n');
}

const servers = new BuiltServers();
let mariadb: MariadbServer;
let postgres: PostgresServer;

beforeAll(async () => {
  await ensureBuilt();
  [mariadb, postgres] = await Promise.all([startMariadb(), startPostgres()]);
  await mariadb.query('CREATE DATABASE leaf CHARACTER SET utf8mb4');
});
afterEach(() => servers.end());
afterAll(() => Promise.all([mariadb.stop(), postgres.stop()]));

interface Engine {
  /** Undefined for the embedded database. */
  readonly url?: string;
  /** The shell that reads SQL. */
  readonly sql: string;
  readonly env: NodeJS.ProcessEnv;
}

async function engineOf(name: string, directory: string): Promise<Engine> {
  const { PATH = '' } = process.env;
  if (name === 'embedded') {
    return { sql: `${await requireTool('sqlite3')} data/leaf.sqlite`, env: { PATH } };
  }
  if (name === 'PostgreSQL') {
    const url = await postgres.createDatabase();
    return { url, sql: `psql -v ON_ERROR_STOP=1 ${url}`, env: { PATH: `${postgres.programs}:${PATH}` } };
  }
  await writeFile(join(directory, '.my.cnf'), `[client]\nhost=127.0.0.1\nuser=root\nport=${mariadb.port}\n`);
  return { url: `mysql://root@127.0.0.1:${mariadb.port}/leaf`, sql: 'mysql leaf', env: { PATH, HOME: directory } };
}

async function rangesOf(server: BuiltServer, path: string): Promise<bigint[]> {
  const { ranges } = await json<Ranges>(server.port, `/api/segment/${path}`);
  return ranges.flatMap(({ from, to }) => [BigInt(from), BigInt(to)]);
}

async function snowflakesOf({ port }: BuiltServer): Promise<readonly string[]> {
  return (await json<{ readonly ids: readonly string[] }>(port, '/api/snowflake/batch/event?size=1000')).ids;
}

const highest = (ids: readonly bigint[]): bigint => ids.reduce((a, b) => (a > b ? a : b));
const lowest = (ids: readonly bigint[]): bigint => ids.reduce((a, b) => (a < b ? a : b));

describe.each(['MariaDB', 'PostgreSQL', 'embedded'])('a backup and a restore of %s', (name) => {
  it('issues no ID again when the steps of the page are followed', async () => {
    const directory = await servers.makeDirectory();
    const engine = await engineOf(name, directory);
    const shell = (script: string, input = ''): string =>
      execFileSync('sh', ['-ec', script.replace('postgres://leaf@db/leaf', engine.url ?? '')], {
        cwd: directory,
        env: engine.env,
        input,
        encoding: 'utf8',
      });
    const settings = {
      LEAF_SNOWFLAKE_REPORT_MS: '200',
      LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
      ...(engine.url !== undefined && { LEAF_DATABASE_URL: engine.url }),
    };
    const start = (): Promise<BuiltServer> => servers.start(join(directory, 'data'), settings);

    const first = await start();
    await ready(first.port);
    await admin(first.port, 'POST', '/api/tags', { tag: 'order', step: 100 });
    await admin(first.port, 'POST', '/api/tags', { tag: 'invoice', step: 100, reset: 'yearly' });
    await rangesOf(first, 'range/order?size=5000');
    await rangesOf(first, 'period/invoice?size=10');
    shell(linesOf('Back up', 'sh', name));
    const orders = await rangesOf(first, 'range/order?size=100000');
    const invoices = await rangesOf(first, 'period/invoice?size=500');
    const events = await snowflakesOf(first);
    await first.kill();

    shell(linesOf('Restore', 'sh', name));
    const restored = shell(engine.sql, "SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order';");
    expect(BigInt(/\d+/.exec(restored.replace('1 row', ''))![0])).toBeLessThanOrEqual(highest(orders));
    const { code: done } = await servers.spawn(join(directory, 'data'), settings, ['restore']).exit();
    expect(done).toBe(0);

    const second = await start();
    await ready(second.port);
    expect(lowest(await rangesOf(second, 'range/order?size=1000'))).toBeGreaterThan(highest(orders));
    expect(lowest(await rangesOf(second, 'period/invoice?size=10'))).toBeGreaterThan(highest(invoices));
    expect((await snowflakesOf(second)).filter((id) => events.includes(id))).toStrictEqual([]);
    const { code } = await servers.spawn(join(directory, 'data'), settings, ['check']).exit();
    expect(code).toBe(0);
  });
});
