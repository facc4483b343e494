import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ensureBuilt, ROOT } from '../support/build';
import { ADMIN_TOKEN } from '../support/http/admin';
import { BuiltServer, BuiltServers } from '../support/servers/built-server';
import { launch } from '../support/servers/launch';

const LEAF = join(ROOT, 'dist/libs/cli/src/main.js');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const servers = new BuiltServers();
let directory: string;
let env: NodeJS.ProcessEnv;
let database: string;

beforeAll(async () => {
  await ensureBuilt();
  directory = await servers.makeDirectory();
  const server = await servers.start(directory, { LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
  env = { LEAF_URL: `http://127.0.0.1:${server.port}` };
  database = `sqlite:${join(directory, 'leaf.sqlite')}`;
});
afterAll(() => servers.end());

/** Runs the built command as a process. It sees only these variables. */
async function leaf(args: readonly string[], variables: NodeJS.ProcessEnv = env): Promise<Ended> {
  const command = new BuiltServer(directory, launch({ command: [process.execPath, LEAF, ...args], env: variables }));
  const { code } = await command.exit();
  return { code, out: command.stdout, err: command.stderr };
}

async function idsOf(args: readonly string[], variables?: NodeJS.ProcessEnv): Promise<string[]> {
  const { code, out, err } = await leaf([...args, '--json'], variables);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return (JSON.parse(out) as { ids: string[] }).ids;
}

describe('the built command leaf', () => {
  it('takes IDs from a server and its database at the same time, each once', async () => {
    const file = join(directory, 'token');
    await writeFile(file, `${ADMIN_TOKEN}\n`);
    const created = await leaf(['tags', 'create', 'order', '--step', '20', '--token-file', file]);
    expect({ ...created, out: '' }).toEqual({ code: 0, out: '', err: '' });
    const fromDatabase = { LEAF_DATABASE_URL: database };
    const ids: string[] = [];
    for (let round = 0; round < 3; round++) {
      const sources = [undefined, undefined, fromDatabase, fromDatabase];
      const taken = await Promise.all(sources.map((source) => idsOf(['next', 'order', '-n', '15'], source)));
      ids.push(...taken.flat());
    }
    expect(ids).toHaveLength(180);
    expect(new Set(ids).size).toBe(180);
    expect(ids.every((id) => /^[1-9]\d*$/.test(id))).toBe(true);
  });

  it('prints only results to standard output', async () => {
    expect(await leaf(['tags', '--limit', '1'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^TAG .+\nleaf-segment-test .+\n$/),
      err: 'There are more tags: leaf tags list --after leaf-segment-test\n',
    });
    expect(await leaf(['check'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('The server is ready.\n'),
      err: '',
    });
    expect(await leaf(['check'], { LEAF_DATABASE_URL: database })).toMatchObject({
      code: 0,
      out: expect.stringContaining('Every tag is in the correct database.\n'),
      err: '',
    });
  });

  it.each([
    [['next', 'order'], 'a-wrong-token-0123456789', 0],
    [['tags', 'create', 'x'], 'a-wrong-token-0123456789', 1],
    [['next', 'nothing'], undefined, 1],
    [['next', 'order', '-n', '0'], undefined, 2],
    [['start'], undefined, 2],
    [['--version'], undefined, 0],
  ])('%j with the token %s exits with code %i', async (args, token, expected) => {
    const { code, out, err } = await leaf(args, { ...env, ...(token === undefined ? {} : { LEAF_TOKEN: token }) });
    expect(code).toBe(expected);
    expect(expected === 0 ? err : out).toBe('');
    if (expected !== 0) expect(err).toMatch(/^leaf: [^\n]+\n$/);
  });

  it('ends with code 1 when the server is away', async () => {
    const { code, out, err } = await leaf(['next', 'order', '--url', 'http://127.0.0.1:1']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^leaf: The server http:\/\/127\.0\.0\.1:1 cannot be used: [^\n]+\n$/);
  });

  it('ends without a message when the reader closes the pipe', async () => {
    const shell = `"${process.execPath}" "${LEAF}" next order -n 10000 | head -n 1`;
    const command = new BuiltServer(directory, launch({ command: ['sh', '-c', shell], env }));
    expect(await command.exit()).toEqual({ code: 0, signal: null });
    expect(command.stdout).toMatch(/^\d+\n$/);
    expect(command.stderr).toBe('');
  });

  it.each([[['--version']], [['--help']], [['decode', '1169786042799259000']]])(
    '%j loads no client, no database and no framework',
    async (args) => {
      const list = join(directory, 'loaded.json');
      const hook = `--require=${join(__dirname, '../support/fixtures/loaded-files.cjs')}`;
      expect(await leaf(args, { NODE_OPTIONS: hook, LOADED_FILES: list })).toMatchObject({ code: 0, err: '' });
      const files = (JSON.parse(await readFile(list, 'utf8')) as string[]).filter((file) => file.startsWith(ROOT));
      const ours = /^(dist\/libs\/(cli|core)|node_modules\/commander|test\/support\/fixtures)\//;
      expect(files.map((file) => relative(ROOT, file)).filter((file) => !ours.test(file))).toStrictEqual([]);
    },
  );

  it('completes in bash', async () => {
    const complete = `eval "$(./leaf completion bash)"
COMP_WORDS=(./leaf tags create order --order ''); COMP_CWORD=5; _leaf; echo "\${COMPREPLY[*]}"
COMP_WORDS=(./leaf ch); COMP_CWORD=1; _leaf; echo "\${COMPREPLY[*]}"
complete -p leaf`;
    // The server keeps its files in a directory with the name of the command.
    const place = await servers.makeDirectory();
    await writeFile(join(place, 'leaf'), `#!/bin/sh\nexec "${process.execPath}" "${LEAF}" "$@"\n`, { mode: 0o755 });
    const shell = new BuiltServer(directory, launch({ command: ['bash', '-c', complete], cwd: place, env }));
    expect(await shell.exit()).toEqual({ code: 0, signal: null });
    expect(shell.stdout).toBe('relaxed strict gapless\ncheck\ncomplete -o default -F _leaf leaf\n');
    expect(shell.stderr).toBe('');
  });
});
