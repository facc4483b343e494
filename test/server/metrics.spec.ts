import { readFileSync } from 'node:fs';
import { makeDataDirectory, removeDataDirectory } from '../support/servers/data-directory';
import { Agent } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import parse from 'parse-prometheus-text-format';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { insertTag } from '../support/servers/data-directory';
import { type Family, parseExposition } from '../support/http/exposition';
import { call, text } from '../support/http/http';
import { scrape } from '../support/http/metrics';
import { startTestServer, type TestServer } from '../support/servers/server';
import { until } from '../support/until';

const TAG = 'leaf-segment-test';
const LABELLED = 1000;

type Scrape = Map<string, Family>;
type Labels = Readonly<Record<string, string>>;

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN });
});
afterEach(() => server.stop());

function values(from: Scrape, name: string, labels: Labels = {}): number[] {
  const samples = from.get(name)?.samples ?? [];
  const fits = (found: Labels): boolean => Object.entries(labels).every(([key, value]) => found[key] === value);
  return samples.filter((sample) => fits(sample.labels)).map(({ value }) => value);
}

/** Whatever has been counted before is counted still. */
function expectGrown(before: Scrape, after: Scrape): void {
  const flatten = (from: Scrape): [string, number][] =>
    [...from.values()]
      .filter(({ kind }) => kind === 'counter' || kind === 'histogram')
      .flatMap(({ samples }) =>
        samples.map(({ name, labels, value }): [string, number] => [name + JSON.stringify(labels), value]),
      );
  const now = new Map(flatten(after));
  const fallen = flatten(before).filter(([key, value]) => !((now.get(key) ?? -1) >= value));
  expect(fallen).toStrictEqual([]);
}

async function take(tag: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await text(server.port, `/api/segment/get/${tag}`);
}

describe('/metrics', () => {
  it('is valid while requests come, and never counts down', async () => {
    let loading = true;
    const load = Array.from({ length: 4 }, async () => {
      while (loading) {
        await text(server.port, `/api/segment/get/${TAG}`);
        await text(server.port, '/api/snowflake/batch/order?size=100');
        await call(server.port, '/api/segment/get/%20');
      }
    });
    try {
      let before = await scrape(server.port);
      for (let i = 0; i < 8; i++) {
        const after = await scrape(server.port);
        expectGrown(before, after);
        before = after;
      }
      expect(values(before, 'leaf_ids_issued_total', { mode: 'snowflake', tag: '' })[0]).toBeGreaterThan(0);
      expect(values(before, 'leaf_ids_issued_total', { mode: 'segment', tag: TAG })[0]).toBeGreaterThan(0);
    } finally {
      loading = false;
      await Promise.all(load);
    }
  });

  it('reads the same by another parser', async () => {
    await take(TAG, 3);
    const body = await text(server.port, '/metrics');
    const families = parseExposition(body);
    const others = parse(body);
    expect(others.map(({ name, type }) => [name, type.toLowerCase()])).toEqual(
      [...families.values()].map(({ name, kind }) => [name, kind]),
    );
    const times = others.find(({ name }) => name === 'leaf_segment_load_duration_seconds')?.metrics[0];
    expect(times).toMatchObject({ count: '1', buckets: { '+Inf': '1' } });
    const issued = others.find(({ name }) => name === 'leaf_ids_issued_total')?.metrics;
    expect(issued).toContainEqual({ labels: { mode: 'segment', tag: TAG }, value: '3' });
  });

  it.each([
    ['with the fast route', true],
    ['without it', false],
  ])('times every request that it counts, %s', async (_, fastPath) => {
    const other = await startTestServer({}, { fastPath });
    try {
      const begunAt = performance.now();
      for (const path of [
        `/api/segment/get/${TAG}`,
        `/api/segment/get/${TAG}`,
        '/api/snowflake/get/order',
        '/nothing',
      ]) {
        await call(other.port, path);
      }
      const found = parseExposition(await text(other.port, '/metrics'));
      const seconds = (performance.now() - begunAt) / 1000;
      const counted = found.get('leaf_http_requests_total')?.samples ?? [];
      const requests = counted.filter(({ value }) => value > 0);
      expect(requests.map(({ value }) => value).sort()).toEqual([1, 1, 2]);
      const times = found.get('leaf_http_request_duration_seconds')?.samples ?? [];
      for (const { labels, value } of requests) {
        const of = times.filter((each) => each.labels['route'] === labels['route']);
        expect(of.find(({ name }) => name.endsWith('_count'))?.value).toBe(value);
        const sum = of.find(({ name }) => name.endsWith('_sum'))?.value;
        expect(sum).toBeGreaterThan(0);
        expect(sum).toBeLessThan(seconds);
        expect(of.map((each) => each.labels['le']).filter(Boolean)).toEqual(expect.arrayContaining(['0.0001', '10']));
      }
    } finally {
      await other.stop();
    }
  });

  it('gives 1000 tags a label, and the others one', async () => {
    const tags = Array.from({ length: LABELLED + 100 }, (_, i) => ({ tag: `tag-${i}`, step: 100 }));
    insertTag(server.directory, ...tags);
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    await Promise.all(tags.map(({ tag }) => text(server.port, `/api/segment/get/${tag}`, { agent })));
    agent.destroy();
    const before = await scrape(server.port);
    expect(values(before, 'leaf_ids_issued_total', { mode: 'segment' })).toHaveLength(LABELLED + 1);
    expect(values(before, 'leaf_ids_issued_total', { tag: '_other' })).toEqual([100]);
    for (const name of ['leaf_segment_remaining_ids', 'leaf_segment_step']) {
      expect(values(before, name)).toHaveLength(LABELLED);
    }
    expect(values(before, 'leaf_segment_tags')).toEqual([LABELLED + 101]);
    await take(TAG, 1);
    const after = await scrape(server.port);
    expectGrown(before, after);
    expect(values(after, 'leaf_ids_issued_total', { tag: '_other' })).toEqual([101]);
    expect(values(after, 'leaf_ids_issued_total', { tag: TAG })).toStrictEqual([]);
  });

  it('goes on counting where a tag was that is removed and made anew', async () => {
    const { port } = server;
    await take(TAG, 5);
    const before = await scrape(server.port);
    expect((await admin(port, 'DELETE', `/api/tags/${TAG}`)).status).toBeLessThan(300);
    const without = await scrape(server.port);
    expectGrown(before, without);
    expect(values(without, 'leaf_ids_issued_total', { tag: TAG })).toEqual([5]);
    expect(values(without, 'leaf_segment_remaining_ids', { tag: TAG })).toStrictEqual([]);
    const body = { tag: TAG, step: 100, maxId: '1000000' };
    expect((await admin(port, 'POST', '/api/tags', body)).status).toBe(201);
    await take(TAG, 3);
    const again = await scrape(server.port);
    expectGrown(without, again);
    expect(values(again, 'leaf_ids_issued_total', { tag: TAG })).toEqual([8]);
    expect(values(again, 'leaf_segment_step', { tag: TAG })).toEqual([100]);
  });

  it('says how long the IDs at hand last, of tags that are in use', async () => {
    insertTag(server.directory, { tag: 'idle', step: 100 });
    await take(TAG, 20);
    const second = await until('a rate', async () => {
      const seen = await scrape(server.port);
      return values(seen, 'leaf_segment_exhaustion_seconds').length > 0 && seen;
    });
    expect(values(second, 'leaf_segment_remaining_ids', { tag: TAG })).toEqual([1980]);
    expect(second.get('leaf_segment_exhaustion_seconds')?.samples).toEqual([
      { name: 'leaf_segment_exhaustion_seconds', labels: { tag: TAG }, value: expect.any(Number) },
    ]);
    expect(values(second, 'leaf_segment_exhaustion_seconds')[0]).toBeGreaterThan(0);
  });

  it('says whether requests may come, and what runs', async () => {
    const state = (from: Scrape): number[] => [...values(from, 'leaf_ready'), ...values(from, 'leaf_draining')];
    expect(state(await scrape(server.port))).toEqual([1, 0]);
    await admin(server.port, 'POST', '/api/server/drain');
    const draining = await scrape(server.port);
    expect(state(draining)).toEqual([0, 1]);
    const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as {
      version: string;
    };
    expect(draining.get('leaf_build_info')?.samples).toMatchObject([{ labels: { version }, value: 1 }]);
  });

  it('names the cluster by its name and what the servers share, files by their host', async () => {
    const labelsOf = async (port: number): Promise<Labels | undefined> =>
      (await scrape(port)).get('leaf_cluster_info')?.samples[0]?.labels;
    const database = join(server.directory, 'leaf.sqlite');
    expect(await labelsOf(server.port)).toEqual({ name: 'leaf', storage: `sqlite:${database} on ${hostname()}` });
    const snowflakeOnly = await startTestServer({ LEAF_NAME: 'events', LEAF_SEGMENT_ENABLED: 'false' });
    try {
      const storage = expect.stringMatching(new RegExp(`^database .* on ${hostname()}$`)) as string;
      expect(await labelsOf(snowflakeOnly.port)).toEqual({ name: 'events', storage });
    } finally {
      await snowflakeOnly.stop();
    }
  });

  it('tells of the lease, and how far worker IDs are used up', async () => {
    const directory = await makeDataDirectory();
    const other = await startTestServer({
      LEAF_DATA_DIR: directory,
      LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite`,
      LEAF_SNOWFLAKE_REGISTRY: 'mysql',
      LEAF_SNOWFLAKE_REPORT_MS: '100',
    });
    try {
      await until('count of worker IDs', async () => {
        const found = await scrape(other.port);
        return values(found, 'leaf_registry_workers_used').length > 0;
      });
      const found = await scrape(other.port);
      const of = (name: string): number[] => values(found, name);
      expect([of('leaf_registry_workers_used'), of('leaf_registry_workers_max')]).toEqual([[2], [1024]]);
      expect([of('leaf_worker_id'), of('leaf_lease_lost')]).toEqual([[1], [0]]);
      expect(of('leaf_lease_report_age_seconds')[0]).toBeGreaterThanOrEqual(0);
      expect(of('leaf_lease_report_age_seconds')[0]).toBeLessThan(60);
      expect(of('leaf_epoch_left_seconds')[0]).toBeGreaterThan(0);
    } finally {
      await other.stop();
      await removeDataDirectory(directory);
    }
    expect(values(await scrape(server.port), 'leaf_clock_offset_seconds')).toStrictEqual([]);
  });

  it('says that a server waits for a worker ID while all of its range are used, and how much time it has reserved: none', async () => {
    const directory = await makeDataDirectory();
    const env = { LEAF_DATABASE_URL: `sqlite:${directory}/leaf.sqlite`, LEAF_SNOWFLAKE_REGISTRY: 'database' };
    const start = (name: string): Promise<TestServer> =>
      startTestServer({ ...env, LEAF_DATA_DIR: `${directory}/${name}`, LEAF_SNOWFLAKE_WORKERS: '7' });
    const holder = await start('holder');
    const newcomer = await start('newcomer');
    try {
      const found = await until('a refusal', async () => {
        const seen = await scrape(newcomer.port);
        return values(seen, 'leaf_worker_id_missing')[0] === 1 && seen;
      });
      const of = (name: string): number[] => values(found, name);
      expect([of('leaf_worker_id'), of('leaf_lease_left_seconds'), of('leaf_ready')]).toEqual([[], [], [0]]);
      const held = await scrape(holder.port);
      expect(values(held, 'leaf_worker_id_missing')).toEqual([0]);
      expect(values(held, 'leaf_lease_left_seconds')[0]).toBeGreaterThan(0);
    } finally {
      await newcomer.stop();
      await holder.stop();
      await removeDataDirectory(directory);
    }
  });
});
