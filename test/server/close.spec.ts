import { insertTag, makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { call, text } from '../support/http/http';
import { problemCode } from '../support/http/problem';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';

describe('close in one process', () => {
  /** How many timers and handles of each kind keep this process alive. */
  function resources(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }

  async function useServer(): Promise<void> {
    const server = await startTestServer();
    await text(server.port, `/api/segment/get/${TAG}`);
    await text(server.port, '/api/segment/get/unknown').catch(() => undefined);
    await text(server.port, '/api/snowflake/get/order');
    await text(server.port, '/metrics');
    await server.stop();
  }

  /** Sockets of the last answers are still being torn down, and a look itself costs a timer. */
  function comesBackTo(before: Record<string, number>): Promise<true> {
    return until('as few timers and handles as before', () =>
      Object.entries(resources())
        .filter(([kind]) => kind !== 'Immediate')
        .every(([kind, count]) => count <= (before[kind] ?? 0)),
    );
  }

  it('leaves no timer and no handle', async () => {
    await useServer();
    const before = resources();
    for (let i = 0; i < 3; i++) await useServer();
    await comesBackTo(before);
  });

  it('is the same close for all who call it', async () => {
    const { server, stop, port } = await startTestServer();
    await Promise.all([server.close({ drain: false }), server.close({ drain: false }), server.close()]);
    await expect(call(port, '/health/live')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await stop();
  });

  it('of a start that failed leaves no timer, no handle and no lock', async () => {
    const running = await startTestServer();
    const env = { LEAF_DATA_DIR: await makeDataDirectory() };
    try {
      const before = resources();
      const failing = startTestServer({ ...env, LEAF_PORT: String(running.port) });
      await expect(failing).rejects.toMatchObject({ code: 'LEAF_PORT_UNUSABLE' });
      await comesBackTo(before);
      const server = await startTestServer(env);
      expect(await text(server.port, '/api/snowflake/get/order')).toMatch(/^[1-9]\d*$/);
      await server.stop();
    } finally {
      await running.stop();
      await removeDataDirectory(env.LEAF_DATA_DIR);
    }
  });
});

describe('two servers in one process', () => {
  let one: TestServer;
  let other: TestServer;

  // One by one: the other may live on the data of the first.
  afterEach(async () => {
    await other.stop();
    await one.stop();
  });

  it('with data of their own do not touch each other', async () => {
    [one, other] = await Promise.all([startTestServer(), startTestServer()]);
    for (let i = 1; i <= 3; i++) expect(await text(one.port, `/api/segment/get/${TAG}`)).toBe(String(i));
    expect(await text(other.port, `/api/segment/get/${TAG}`)).toBe('1');
    insertTag(one.directory, { tag: 'only-here', step: 10 });
    expect(await text(one.port, '/api/segment/get/only-here')).toBe('1');
    expect(problemCode(await call(other.port, '/api/segment/get/only-here'))).toBe('LEAF_TAG_NOT_FOUND');
    const requests = 'leaf_http_requests_total{route="/api/segment/get/:tag",status="200"}';
    expect(await text(one.port, '/metrics')).toContain(`${requests} 4\n`);
    expect(await text(other.port, '/metrics')).toContain(`${requests} 1\n`);
    await one.stop();
    expect(await text(other.port, `/api/segment/get/${TAG}`)).toBe('2');
    expect(await text(other.port, '/api/snowflake/get/order')).toMatch(/^[1-9]\d*$/);
  });

  it('with one database give no ID twice', async () => {
    one = await startTestServer();
    other = await startTestServer({ LEAF_DATA_DIR: one.directory });
    insertTag(one.directory, { tag: 'shared', step: 5 });
    const ask = (path: string): Promise<string[]> =>
      Promise.all(Array.from({ length: 200 }, (_, index) => text((index % 2 === 0 ? one : other).port, path)));
    expect(new Set(await ask('/api/segment/get/shared')).size).toBe(200);
    expect(new Set(await ask('/api/snowflake/get/order')).size).toBe(200);
  });
});
