import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { json, text } from '../support/http/http';
import { metric } from '../support/http/metrics';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const DAY_MS = 86_400_000;
const YEAR_S = 365.25 * 86_400;

describe('the end of a tag', () => {
  let directory: string;
  let server: TestServer;
  const start = async (): Promise<TestServer> =>
    (server = await startTestServer({ LEAF_DATA_DIR: directory, LEAF_ADMIN_TOKEN: ADMIN_TOKEN }));

  beforeEach(async () => (directory = await makeDataDirectory()));
  afterEach(async () => {
    await server.stop();
    await removeDataDirectory(directory);
  });

  it('is in the metrics and in its row if it has a max, at the rate before a restart', async () => {
    const file = join(directory, 'leaf', 'tag-ends.json');
    const dayAgo = Date.now() - DAY_MS;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify({ [TAG]: [dayAgo, '1', dayAgo, '1'] }));
    const { port } = await start();
    await text(port, `/api/segment/range/${TAG}?size=1000000`);
    await admin(port, 'PATCH', `/api/tags/${TAG}`, { max: '2147483647' });
    await server.stop();
    const next = await start();
    const seconds = await until('an estimate', () => metric(next.port, 'leaf_tag_end_seconds', { tag: TAG }));
    const { endsAt } = await json<{ endsAt: string }>(next.port, `/api/tags/${TAG}`);
    const [listed] = await json<{ endsAt: string }[]>(next.port, '/api/tags');
    const ends = [seconds, ...[endsAt, listed!.endsAt].map((at) => (Date.parse(at) - Date.now()) / 1000)];
    for (const end of ends) expect(Math.round((end / YEAR_S) * 10) / 10).toBe(5.9);
    await admin(next.port, 'PATCH', `/api/tags/${TAG}`, { max: null });
    expect(await json(next.port, `/api/tags/${TAG}`)).not.toHaveProperty('endsAt');
  });
});
