import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { json, text } from '../support/http/http';
import { metric } from '../support/http/metrics';
import { startTestServer, type TestServer } from '../support/servers/server';

const TAG = 'leaf-segment-test';
const GET = `/api/segment/get/${TAG}`;

describe('the tags of the last day', () => {
  let directory: string;
  let server: TestServer | undefined;
  const file = (): string => join(directory, 'leaf', 'hot-tags.json');

  beforeEach(async () => (directory = await makeDataDirectory()));
  afterEach(async () => {
    await stop();
    await removeDataDirectory(directory);
  });

  async function start(): Promise<TestServer> {
    server = await startTestServer({ LEAF_DATA_DIR: directory });
    return server;
  }

  async function stop(): Promise<void> {
    await server?.stop();
    server = undefined;
  }

  const loads = (port: number): Promise<number | undefined> => metric(port, 'leaf_segment_loads_total');

  it('are loaded before the first request after a restart, and waste no ID', async () => {
    const first = await start();
    expect(await loads(first.port)).toBe(0);
    expect(await text(first.port, GET)).toBe('1');
    await stop();
    expect(Object.keys(JSON.parse(await readFile(file(), 'utf8')) as object)).toEqual([TAG]);
    const second = await start();
    expect(await loads(second.port)).toBe(1);
    expect(await text(second.port, GET)).toBe('2');
    await stop();
    const third = await start();
    await stop();
    expect(third.port).toBeGreaterThan(0);
    expect(await text((await start()).port, GET)).toBe('3');
  });

  it.each(['', 'torn {', 'null', '[]', '{"no such tag":1,"gone":1732000000000}'])(
    'that are saved as %j do not keep the server from starting',
    async (content) => {
      await start();
      await stop();
      await writeFile(file(), content);
      const { port } = await start();
      expect(await json(port, '/health/ready')).toMatchObject({ status: 'ok' });
      expect(await text(port, GET)).toBe('1');
    },
  );

  it('are kept nowhere while nobody uses one', async () => {
    await start();
    await stop();
    expect(existsSync(file()) && JSON.parse(await readFile(file(), 'utf8'))).toEqual({});
  });
});
