import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Leaf } from '@leaf-ids/id';
import { defaultLayout } from '@leaf-ids/core/internal';
import { ensureBuilt, SERVER_FILE } from '../support/build';
import { text } from '../support/http/http';
import { BuiltServers } from '../support/servers/built-server';
import { ready } from '../support/servers/readiness';

const COUNT = 1000;
const NOBODY = 65_534;
const LOCAL = { LEAF_SNOWFLAKE_REGISTRY: 'local' };
const MISMATCH = 'LEAF_REGISTRY_MISMATCH';

const servers = new BuiltServers();
let leaves: Leaf[] = [];

beforeAll(() => ensureBuilt());
afterEach(async () => {
  for (const leaf of leaves) await leaf.stop();
  leaves = [];
  await servers.end();
});

async function application(directory: string): Promise<Leaf> {
  const database = `sqlite:${join(directory, 'leaf.sqlite')}`;
  const leaf = await Leaf.start({ database, tags: ['order'], snowflake: {} });
  leaves.push(leaf);
  return leaf;
}

const workerOf = (id: bigint): number => defaultLayout().decompose(id).workerId;

it('a server and an application on one SQLite file have different worker IDs, and make no ID twice', async () => {
  const directory = await servers.makeDirectory();
  const { port } = await servers.start(directory);
  const leaf = await application(directory);
  await ready(port);
  const ofServer: bigint[] = [];
  const ofApplication: bigint[] = [];
  while (ofServer.length < COUNT) {
    const [answer, ids] = await Promise.all([
      text(port, '/api/snowflake/batch/order?size=100'),
      leaf.ids.snowflakes(100),
    ]);
    ofServer.push(...(JSON.parse(answer) as { ids: string[] }).ids.map(BigInt));
    ofApplication.push(...ids);
  }
  expect(new Set([...ofServer, ...ofApplication]).size).toBe(2 * COUNT);
  expect(workerOf(ofServer[0]!)).not.toBe(workerOf(ofApplication[0]!));
});

it('a server starts beside a directory of another user, such as lost+found', async () => {
  const directory = await servers.makeDirectory();
  const lost = join(directory, 'lost+found');
  await mkdir(lost, { mode: 0 });
  // Root may read it all the same.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(directory, NOBODY, NOBODY);
  const program = [process.execPath, SERVER_FILE];
  const others = new BuiltServers(isRoot ? ['setpriv', `--reuid=${NOBODY}`, '--clear-groups', ...program] : program);
  try {
    const { port } = await others.start(directory);
    await ready(port);
  } finally {
    await others.end();
    await chmod(lost, 0o700);
  }
});

it('neither starts while the other one uses another registry', async () => {
  const directory = await servers.makeDirectory();
  const local = await servers.start(directory, LOCAL);
  const refusal = { code: MISMATCH, message: expect.stringContaining(join(directory, 'leaf/worker-0')) as string };
  await expect(application(directory)).rejects.toMatchObject(refusal);
  local.signal('SIGTERM');
  await local.exit();
  await application(directory);
  const again = servers.spawn(directory, LOCAL);
  expect(await again.exit()).toEqual({ code: 1, signal: null });
  expect(again.stderr).toContain(`leaf-server cannot start: ${MISMATCH}: `);
  expect(again.stderr).toContain(join(directory, 'workers-leaf.sqlite'));
});

it('a server that was local before uses the pool after the upgrade, and the other way round', async () => {
  const directory = await servers.makeDirectory();
  for (const env of [LOCAL, {}, LOCAL]) {
    const server = await servers.start(directory, env);
    await ready(server.port);
    expect(await text(server.port, '/api/snowflake/get/order')).toMatch(/^\d+$/);
    server.signal('SIGTERM');
    await server.exit();
  }
});
