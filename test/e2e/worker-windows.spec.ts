import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { run } from '../support/servers/services';
import { requireTool } from '../support/tools';

const TOKEN = 'worker-token-0123456789';
const KIT = join(ROOT, 'test/conformance');

const servers = new BuiltServers();
beforeAll(ensureBuilt);
afterEach(() => servers.end());

it.each(['node', 'python'])(
  'the client of %s keeps to the rules with a real server',
  async (client) => {
    const directory = await servers.makeDirectory();
    const { port } = await servers.start(directory, {
      LEAF_DATABASE_URL: `sqlite:${join(directory, 'leaf.sqlite')}`,
      LEAF_SNOWFLAKE_REGISTRY: 'database',
      LEAF_WORKER_TOKENS: `kit:${TOKEN}`,
    });
    await requireTool('python3');
    const words = [join(KIT, 'run.mjs'), '--client', client, '--server', `http://127.0.0.1:${port}`];
    const { stdout } = await run(process.execPath, words);
    expect(stdout).toContain('1 passed, 0 failed');
  },
  180_000,
);
