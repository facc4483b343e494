import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';

const servers = new BuiltServers();

beforeAll(() => ensureBuilt());
afterEach(() => servers.end());

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs leaf-server with settings that no server would start with: they are not read. */
async function run(...args: string[]): Promise<Ended> {
  const directory = await servers.makeDirectory();
  const server = servers.spawn(directory, { LEAF_DATABASE_URL: 'none', LEAF_LOG_FORMAT: 'json' }, args);
  const { code } = await server.exit();
  expect(await readdir(directory)).toStrictEqual([]);
  return { code, stdout: server.stdout, stderr: server.stderr };
}

it.each(['--help', '-h'])('leaf-server %s prints the usage', async (option) => {
  const { code, stdout, stderr } = await run(option);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: leaf-server /);
});

it.each(['--version', '-v'])('leaf-server %s prints the version', async (option) => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(await run(option)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

it.each([[['--port', '9000']], [['--process=1']], [['start']], [['check', 'now']], [['schema', 'mysql', 'sqlite']]])(
  'leaf-server refuses the arguments %j',
  async (args) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^leaf-server: .+ leaf-server --help shows the usage\.\n$/);
  },
);
