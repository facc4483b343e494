import { readdir, readFile } from 'node:fs/promises';
import { ensureBuilt } from '../support/build';
import { text } from '../support/http/http';
import { ready } from '../support/servers/readiness';
import { UnprivilegedServer } from '../support/servers/unprivileged-server';
import { startZookeeper, type ZookeeperServer } from '../support/servers/zookeeper';
import { requireZookeeperClient } from '../support/servers/zookeeper-client';

let zookeeper: ZookeeperServer;
let server: UnprivilegedServer | undefined;

beforeAll(async () => {
  await ensureBuilt();
  await requireZookeeperClient();
  zookeeper = await startZookeeper();
});

afterEach(() => server?.end());
afterAll(() => zookeeper.stop());

describe('a server that may write its data directory only', () => {
  it.each([
    ['database', ['leaf', 'leaf.sqlite', 'workers-leaf.sqlite'], () => Promise.resolve({})],
    ['local', ['leaf', 'leaf.sqlite'], () => Promise.resolve({ LEAF_SNOWFLAKE_REGISTRY: 'local' })],
    [
      'zk_recycle',
      [],
      async () => ({
        LEAF_SEGMENT_ENABLED: 'false',
        LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle',
        LEAF_ZOOKEEPER: await zookeeper.createDatabase(),
      }),
    ],
  ])('serves with the registry %s and writes nothing else', async (_name, files, registry) => {
    server = await UnprivilegedServer.start(await registry());
    const { process: leaf, userId } = server;
    const port = await leaf.listening();
    const status = await readFile(`/proc/${leaf.pid}/status`, 'utf8');
    if (userId !== undefined) expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(String(userId));
    await ready(port);
    if (files.length > 0) expect(await text(port, '/api/segment/get/leaf-segment-test')).toBe('1');
    expect(await text(port, '/api/snowflake/get/order')).toMatch(/^\d{19}$/);
    expect(await text(port, '/metrics')).toContain('leaf_http_requests_total');
    expect(await server.strayFiles()).toStrictEqual([]);

    leaf.signal('SIGTERM');
    expect(await leaf.exit()).toEqual({ code: 0, signal: null });
    expect(leaf.stderr).toBe('');
    expect(leaf.stdout).not.toMatch(/"level":"(error|fatal)"/);
    expect(await readdir(leaf.directory)).toEqual(expect.arrayContaining(files));
    expect(await server.strayFiles()).toStrictEqual([]);
  });
});
