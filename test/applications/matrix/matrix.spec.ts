import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../../support/build';
import { call } from '../../support/http/http';
import { command } from '../../support/packages';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import { BuiltServers } from '../../support/servers/built-server';
import { until } from '../../support/until';
import { type Cell, CELLS, rowOf } from './cells';
import { Installation } from './installation';
import { keepResults } from './results';
import { bundle, extensionOf, type Run, runTest } from './tools';

/** npm may have to fetch what the applications need, on a busy machine. */
const LIMIT_MS = 900_000;
const PRINTED = /IDs: (\d+) (\d{17,19})(?: (\d+))?/;

const servers = new BuiltServers();
const shown: Cell[] = [];
const databaseServers: { stop(): Promise<void> }[] = [];
let installation: Installation;
let directory: string;
let leaf: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'leaf-matrix-'));
  const applications = join(directory, 'applications');
  await mkdir(applications);
  [installation] = await Promise.all([Installation.make(applications), ensureBuilt()]);
  const server = await servers.start(await servers.makeDirectory());
  await until('readiness', async () => (await call(server.port, '/health/ready')).status === 200, LIMIT_MS);
  leaf = `http://127.0.0.1:${server.port}`;
}, LIMIT_MS);
afterAll(async () => {
  keepResults(shown);
  await servers.end();
  await Promise.all(databaseServers.map((server) => server.stop()));
  await rm(directory, { recursive: true });
});

it.each(CELLS.map((cell): [string, Cell] => [rowOf(cell).filter(Boolean).join(' · '), cell]))(
  '%s',
  async (_, cell) => {
    for (const kind of cell.kinds)
      await Promise.all(cell.runtimes.map((runtime) => check({ installation, cell, kind, runtime })));
    shown.push(cell);
  },
  LIMIT_MS,
);

async function check(run: Run): Promise<void> {
  const { cell, kind, runtime } = run;
  if (cell.program === 'LeafClient') {
    const words = [...(runtime === 'Deno' ? ['run', '--allow-all'] : []), `client.${extensionOf(kind)}`, leaf];
    const folder = installation.folder(cell.application);
    expect(await command(installation.program(runtime), words, folder)).toMatch(PRINTED);
    return;
  }
  const tested = await runTest(run);
  if (tested === undefined) await takeTwice(run, await bundle(run));
  else expect(tested).toMatch(PRINTED);
}

/** A second run continues above the first: the first one returned its unused IDs and its worker ID. */
async function takeTwice({ cell, kind, runtime }: Run, file: string): Promise<void> {
  const data = join(directory, 'data', `${cell.application} ${cell.tool} ${kind} ${runtime}`);
  const databases =
    cell.database === undefined
      ? [`sqlite:${data}/orders`, `sqlite:${data}/invoices`]
      : [await databaseOf(cell.database)];
  await mkdir(data, { recursive: true });
  let last = 0n;
  for (const expected of [1, 2]) {
    const output = await command(installation.program(runtime), [file, ...databases], data);
    const [, order, event = '', invoice] = PRINTED.exec(output) ?? [];
    expect({ order, invoice, output }).toEqual({
      order: String(expected),
      invoice: String(expected),
      output: expect.stringMatching(/1999 unused IDs returned, worker ID \d+ released/),
    });
    expect(BigInt(event)).toBeGreaterThan(last);
    last = BigInt(event);
  }
}

/** A new database on a new server. */
async function databaseOf(name: NonNullable<Cell['database']>): Promise<string> {
  const server = await (name === 'MariaDB' ? startMariadb() : startPostgres());
  databaseServers.push(server);
  return server.createDatabase();
}
