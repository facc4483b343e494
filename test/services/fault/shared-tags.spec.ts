import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IdRange } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, SegmentIdGenerator, systemRandom } from '@leaf-ids/core/internal';
import { parseDatabaseUrl, ShardRouter } from '@leaf-ids/persistence';
import { clock, connect } from '../../support/contract/sql-stores';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type ShardedDatabases, shardedDatabases } from '../../support/servers/shards';
import { until } from '../../support/until';

const BLOCK = 100;
const INTERLEAVE = { of: 2, remainder: 0, block: BLOCK };

describe('a tag that two databases share', () => {
  let server: MariadbServer;
  let directory: string;
  let urls: Record<string, string>;
  const opened: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    server = await startMariadb();
    opened.push(() => server.stop());
    directory = await mkdtemp(join(tmpdir(), 'leaf-shared-'));
    opened.push(() => rm(directory, { recursive: true }));
    urls = { near: `sqlite:${join(directory, 'near.sqlite')}`, far: await server.createDatabase() };
  });
  afterEach(async () => {
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
  });

  async function startServer(): Promise<ShardedDatabases> {
    const databases = shardedDatabases(urls);
    opened.push(() => databases.shards.close());
    await databases.shards.start();
    return databases;
  }

  function makeGenerator({ segments }: ShardedDatabases): SegmentIdGenerator {
    const ignore = (): void => undefined;
    const events = { onLoadFailed: ignore, onRefreshFailed: ignore };
    const generator = new SegmentIdGenerator(segments, clock, systemRandom, DEFAULT_SEGMENT_OPTIONS, events);
    opened.push(() => generator.close().catch(ignore));
    return generator;
  }

  async function execute(url: string, statement: string): Promise<void> {
    const dataSource = await connect(parseDatabaseUrl(url));
    await dataSource.query(statement);
    await dataSource.destroy();
  }

  /** A tag that belongs to `owner`. */
  function tagOf(owner: string): string {
    const router = new ShardRouter(Object.keys(urls), {});
    return Array.from({ length: 100 }, (_, n) => `order${n}`).find((tag) => router.shardOf(tag) === owner)!;
  }

  it('gets a row in each, its remainder by their names', async () => {
    const { tags, segments } = await startServer();
    const tag = tagOf('near');
    expect(await tags.create({ tag, step: 10, interleave: INTERLEAVE })).toMatchObject({ maxId: 101n });
    expect(await tags.list()).toMatchObject([{}, { tag, interleave: { ...INTERLEAVE, remainder: 1 } }]);
    expect((await segments.listTags()).filter((entry) => entry.tag === tag)).toHaveLength(1);
    await expect(tags.create({ tag, step: 10, interleave: INTERLEAVE })).rejects.toMatchObject({
      code: 'LEAF_TAG_EXISTS',
    });
    const wrong = tags.create({ tag: 'three', step: 10, interleave: { ...INTERLEAVE, of: 3 } });
    await expect(wrong).rejects.toMatchObject({ code: 'LEAF_BODY_INVALID' });
    expect(await segments.allocate(tag, 1)).toMatchObject({ from: 101n, to: 200n });
    expect(await segments.giveBack(tag, { from: 101n, to: 200n })).toBe(true);
    expect(await segments.allocate(tag, 1)).toMatchObject({ from: 101n, to: 200n });
    await tags.change(tag, { maxId: 1000n });
    await tags.remove(tag);
    expect((await segments.listTags()).filter((entry) => entry.tag === tag)).toStrictEqual([]);
    expect((await tags.create({ tag, step: 10 })).maxId).toBeGreaterThanOrEqual(1001n);
  });

  it('goes on, ascending and without a duplicate, when one of them is killed and comes back', async () => {
    const tag = tagOf('far');
    const first = await startServer();
    await first.tags.create({ tag, step: 10, interleave: INTERLEAVE });
    const generators = [makeGenerator(first), makeGenerator(await startServer())];
    const given = generators.map((): IdRange[] => []);
    /** Each server takes more IDs than a block has. */
    const takeSome = async (): Promise<void> => {
      for (const [index, generator] of generators.entries()) {
        const size = Math.round(BLOCK * 2.5);
        // A call may time out until the loss is detected.
        const ranges = await until('IDs', () => generator.takeRanges(tag, size).catch(() => undefined), 60_000);
        given[index]!.push(...ranges);
      }
    };
    for (let round = 0; round < 3; round++) await takeSome();
    await server.kill();
    for (let round = 0; round < 3; round++) await takeSome();
    await server.restart();
    for (const generator of generators) await generator.refresh.run();
    for (let round = 0; round < 3; round++) await takeSome();
    // The server moved each database past its own position before the allocation.
    expect(generators.map(({ totals }) => totals.backwards)).toEqual([0, 0]);
    for (const ranges of given) {
      for (const [index, { from }] of ranges.entries()) {
        if (index > 0) expect(from).toBeGreaterThan(ranges[index - 1]!.to);
      }
    }
    const sorted = given.flat().sort((a, b) => (a.from < b.from ? -1 : 1));
    for (const [index, { from }] of sorted.entries()) {
      if (index > 0) expect(from).toBeGreaterThan(sorted[index - 1]!.to);
    }
    const blocks = new Set(sorted.map(({ from }) => ((from - 1n) / BigInt(BLOCK)) % 2n));
    expect(blocks.size).toBe(2);
  });

  it('is found while the database that it belongs to is away', async () => {
    const tag = tagOf('far');
    await (await startServer()).tags.create({ tag, step: 10, interleave: INTERLEAVE });
    await server.kill();
    const { segments } = await startServer();
    expect(await segments.findTag(tag)).toMatchObject({ tag });
    expect(await segments.allocate(tag, 1)).toMatchObject({ from: 101n });
  });

  it('survives the loss of its database before the next refresh, on the server that uses it first', async () => {
    const tag = tagOf('far');
    const { segments, tags } = await startServer();
    await segments.listTags();
    await tags.create({ tag, step: 10, interleave: INTERLEAVE });
    expect(await segments.allocate(tag, 1)).toMatchObject({ from: 1n });
    await server.kill();
    const next = await until('a block', () => segments.allocate(tag, 1).catch(() => undefined), 60_000);
    expect(next).toMatchObject({ from: 101n });
  });

  it('is refused when two rows would give the same IDs', async () => {
    const tag = tagOf('far');
    await (await startServer()).tags.create({ tag, step: 10, interleave: INTERLEAVE });
    await execute(urls.near!, `UPDATE leaf_alloc SET interleave_remainder = 0 WHERE biz_tag = '${tag}'`);
    const { segments } = await startServer();
    await segments.listTags();
    await expect(segments.allocate(tag, 1)).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID' });
  });
});
