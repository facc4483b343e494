import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { run } from '../support/servers/services';
import { requireTool } from '../support/tools';

const TOKEN = 'worker-token-0123456789';
const CLIENT = join(ROOT, 'test/clients/worker-windows.py');
const CONFORMANCE = join(ROOT, 'test/clients/conformance/run.mjs');

const servers = new BuiltServers();
beforeAll(ensureBuilt);
afterEach(() => servers.end());

it('a client in Python knows the test vectors', async () => {
  const vectors = join(ROOT, 'test/clients/conformance/worker-windows.json');
  const { stdout } = await run(await requireTool('python3'), [CLIENT, '--vectors', vectors]);
  expect(stdout).toMatch(/^\d+ vectors$/m);
});

it.each([
  ['Python', 'python3', 'test/clients/worker-windows.py'],
  ['LeafClient', 'node', 'test/clients/conformance/leaf-client.mjs'],
])(
  '%s keeps to the rules with a real server',
  async (_, runtime, file) => {
    const directory = await servers.makeDirectory();
    const { port } = await servers.start(directory, {
      LEAF_DATABASE_URL: `sqlite:${join(directory, 'leaf.sqlite')}`,
      LEAF_SNOWFLAKE_REGISTRY: 'database',
      LEAF_WORKER_TOKENS: TOKEN,
    });
    const program = runtime === 'node' ? process.execPath : await requireTool('python3');
    const command = `${program} ${join(ROOT, file)}`;
    const words = [CONFORMANCE, '--command', command, '--server', `http://127.0.0.1:${port}`, '--token', TOKEN];
    const { stdout } = await run(process.execPath, words);
    expect(stdout).toMatch(/^The client keeps to the rules: \d+ IDs/m);
  },
  180_000,
);

it('the conformance script finds a client that breaks a rule', async () => {
  const command = `${process.execPath} ${join(ROOT, 'test/clients/conformance/broken-client.mjs')}`;
  const ended = run(process.execPath, [CONFORMANCE, '--command', command]);
  await expect(ended).rejects.toThrow('rule 1: a POST was tried again with another lease');
}, 60_000);
