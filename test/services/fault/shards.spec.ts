import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IdRange, LeafError, periodRow } from '@leaf-ids/core';
import {
  DEFAULT_SEGMENT_OPTIONS,
  PeriodCalendar,
  periodOf,
  SegmentIdGenerator,
  systemRandom,
} from '@leaf-ids/core/internal';
import { ShardRouter } from '@leaf-ids/persistence';
import { clock, sqlFixture, type SqlFixture } from '../../support/contract/sql-stores';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type ShardedDatabases, shardedDatabases } from '../../support/servers/shards';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const sizeOf = (ranges: readonly IdRange[]): number =>
  ranges.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);
const codeOf = (error: unknown): string => (error instanceof LeafError ? error.code : String(error));

describe('several databases', () => {
  let server: MariadbServer;
  let directory: string;
  const opened: (() => Promise<unknown>)[] = [];

  beforeAll(async () => (server = await startMariadb()));
  afterAll(() => server.stop());
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-shards-'))));
  afterEach(async () => {
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
    await rm(directory, { recursive: true });
  });

  async function rowsOf(url: string): Promise<SqlFixture> {
    const rows = await sqlFixture(url, () => Promise.resolve());
    opened.push(() => rows.close());
    return rows;
  }

  function open(urls: Record<string, string>, tags: Record<string, string>): ShardedDatabases {
    const databases = shardedDatabases(urls, tags);
    opened.push(() => databases.shards.close());
    return databases;
  }

  /** `near` is a file, `far` a server behind a proxy; a tag of the same name in each. */
  async function makeWorld(): Promise<{ urls: Record<string, string>; proxy: TcpProxy }> {
    const url = await server.createDatabase();
    const proxy = await TcpProxy.start(server.port);
    opened.push(() => proxy.stop());
    const urls = {
      near: `sqlite:${join(directory, 'near.sqlite')}`,
      far: url.replace(`:${server.port}/`, `:${proxy.port}/`),
    };
    await (await rowsOf(urls.near)).putRow('near', 1n, 10);
    await (await rowsOf(url)).putRow('far', 1n, 10);
    return { urls, proxy };
  }

  const MAP = { near: 'near', far: 'far' };

  it('serves the tags of the others while one is down, and of all when it is back', async () => {
    const { urls, proxy } = await makeWorld();
    const { shards, segments, reports } = open(urls, MAP);
    await shards.start();
    const options = { ...DEFAULT_SEGMENT_OPTIONS, waitMs: 300, maxStep: 10 };
    const generator = new SegmentIdGenerator(segments, clock, systemRandom, options, {
      onLoadFailed: () => undefined,
      onRefreshFailed: (error) => reports.push(`refresh: ${codeOf(error)}`),
    });
    opened.push(() => generator.close().catch(() => undefined));
    const known = (): string[] => generator.snapshot().map(({ tag }) => tag);
    await until('the tags of both', async () => {
      await generator.refresh.run();
      return known().length === 2;
    });
    expect(known().sort()).toEqual(['far', 'near']);
    /** A busy machine can exceed the short wait limit of the generator. */
    const ranges = (tag: string, count: number): Promise<IdRange[]> =>
      until(`${count} IDs of ${tag}`, () => generator.takeRanges(tag, count).catch(() => undefined));
    const last = (await ranges('far', 15)).at(-1)!.to;

    reports.length = 0;
    proxy.blackhole();
    await generator.refresh.run();
    expect(reports).toEqual(['far failed']);
    expect(known().sort()).toEqual(['far', 'near']);
    expect(sizeOf(await ranges('near', 100))).toBe(100);
    await expect(generator.takeRanges('far', 1000)).rejects.toMatchObject({ code: 'LEAF_SEGMENT_UNAVAILABLE' });

    proxy.heal();
    const id = await until('an ID of the other one', () => generator.next('far').catch(() => undefined));
    expect(id).toBeGreaterThan(last);
  });

  it('starts without the one that is away, and takes it in when it comes', async () => {
    const { urls, proxy } = await makeWorld();
    proxy.refuse();
    const { shards, segments, tags } = open(urls, MAP);
    await shards.start();
    expect(await segments.allocate('near', 5)).toMatchObject({ from: 1n });
    await expect(segments.allocate('far', 5)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    await expect(segments.findTag('far')).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(await segments.listTags()).toMatchObject([{ tag: 'near' }]);
    // Leaf cannot know whether that database has a row of the tag.
    await expect(tags.create({ tag: 'new', step: 1 })).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    proxy.heal();
    const range = await until('the other database', () => segments.allocate('far', 5).catch(() => undefined), 60_000);
    expect(range).toMatchObject({ from: 1n });
    expect((await segments.listTags()).map(({ tag }) => tag).sort()).toEqual(['far', 'near']);
  });

  it('says to a ping which one is away', async () => {
    const { urls, proxy } = await makeWorld();
    const { shards, segments } = open(urls, MAP);
    await shards.start();
    await until('an answer of all', async () => (await segments.ping()) === undefined);
    proxy.refuse();
    expect(await segments.ping()).toMatch(/^far: .*database/);
    proxy.heal();
    expect(await until('an answer of all', async () => (await segments.ping()) === undefined)).toBe(true);
  });

  it('fails a ping when all are away', async () => {
    const { urls, proxy } = await makeWorld();
    const { shards, segments } = open({ far: urls.far! }, {});
    await shards.start();
    proxy.refuse();
    await expect(segments.ping()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
  });

  it('does not start when all are away', async () => {
    const { shards } = open({ a: `sqlite:${directory}`, b: `sqlite:${directory}` }, {});
    await expect(shards.start()).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
  });

  it('gives no IDs from a row that is in the wrong database, and says so once', async () => {
    const urls = { a: `sqlite:${join(directory, 'a.sqlite')}`, b: `sqlite:${join(directory, 'b.sqlite')}` };
    const rows = { a: await rowsOf(urls.a), b: await rowsOf(urls.b) };
    await rows.a.putRow('order', 500n, 10);
    const { shards, segments, tags, reports } = open(urls, { order: 'b' });
    await shards.start();
    expect(await segments.listTags()).toStrictEqual([]);
    await segments.listTags();
    expect(reports).toEqual(['order in a, not b']);
    await expect(segments.allocate('order', 5)).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID' });
    await expect(segments.findTag('order')).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID' });
    // It would restart at 1.
    await expect(tags.create({ tag: 'order', step: 1 })).rejects.toMatchObject({ code: 'LEAF_TAG_EXISTS' });
    await rows.b.putRow('order', 499n, 10);
    await expect(segments.allocate('order', 5)).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID' });
    await tags.change('order', { maxId: 500n });
    expect(await segments.allocate('order', 5)).toMatchObject({ from: 500n });
  });

  it('gives no IDs of a tag with two rows before it has compared them', async () => {
    const { urls, proxy } = await makeWorld();
    await (await rowsOf(urls.near!)).putRow('far', 900n, 10);
    proxy.refuse();
    const { shards, segments } = open(urls, MAP);
    await shards.start();
    await segments.listTags();
    proxy.heal();
    await until('an answer of all', async () => (await segments.ping()) === undefined);
    const refused = { code: 'LEAF_TAG_ROW_INVALID' };
    expect(await segments.allocateAll([{ tag: 'far', size: 5 }])).toMatchObject([refused]);
    await expect(segments.allocate('far', 5)).rejects.toMatchObject(refused);
  });

  it('compares the rows of a tag in all databases', async () => {
    const urls = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, `sqlite:${join(directory, name)}.sqlite`]));
    for (const [name, maxId] of Object.entries({ a: 900n, b: 500n, c: 1n }))
      await (await rowsOf(urls[name]!)).putRow('order', maxId, 10);
    const { shards, segments } = open(urls, { order: 'b' });
    await shards.start();
    await segments.listTags();
    await expect(segments.allocate('order', 5)).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID' });
  });
});

describe('a tag whose name another database remembers as deleted', () => {
  let directory: string;
  const opened: (() => Promise<unknown>)[] = [];

  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'leaf-shards-'))));
  afterEach(async () => {
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close();
    await rm(directory, { recursive: true });
  });

  async function open(tags: Record<string, string>): Promise<ShardedDatabases> {
    const urls = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, `sqlite:${join(directory, name)}.sqlite`]));
    const databases = shardedDatabases(urls, tags);
    opened.push(() => databases.shards.close());
    await databases.shards.start();
    return databases;
  }

  it('begins above what the one that came furthest remembers', async () => {
    for (const [owner, size] of Object.entries({ a: 500, b: 900 })) {
      const { tags, segments } = await open({ order: owner });
      await tags.create({ tag: 'order', step: 10 });
      await segments.allocate('order', size);
      await tags.remove('order');
    }
    const { tags } = await open({ order: 'c' });
    const below = tags.create({ tag: 'order', step: 10, maxId: 900n });
    await expect(below).rejects.toMatchObject({ code: 'LEAF_MAX_ID_BACKWARDS' });
    const strict = tags.create({ tag: 'order', step: 10, order: 'strict' });
    await expect(strict).rejects.toMatchObject({ code: 'LEAF_TAG_EXISTS' });
    // b started above the position that a has recorded, and issued 900 IDs.
    expect(await tags.create({ tag: 'order', step: 10 })).toMatchObject({ maxId: 1401n });
  });

  it('gives no numbers of periods that may have rows in another one', async () => {
    const invoice = { tag: 'invoice', step: 10, reset: 'yearly', zone: 'UTC' } as const;
    const period = periodOf('yearly', new PeriodCalendar('yearly', 'UTC').nameAt(Date.now()));
    const old = await open({ invoice: 'a' });
    const kind = await old.tags.create(invoice);
    await old.segments.beginPeriod('invoice', kind, period, 1n);
    const { shards, segments, tags } = await open({ invoice: 'b' });
    const owner = shards.of('invoice').stores.tags;
    await owner.createAbove(invoice);
    await segments.listTags();
    const refused = {
      code: 'LEAF_TAG_ROW_INVALID',
      message: expect.stringContaining('"a" has a row of it') as unknown,
    };
    await expect(segments.beginPeriod('invoice', kind, period, 1n)).rejects.toMatchObject(refused);
    await expect(segments.allocate(periodRow('invoice', period.name), 1)).rejects.toMatchObject(refused);
    await owner.remove('invoice');
    await old.tags.remove('invoice');
    await expect(tags.create(invoice)).rejects.toMatchObject({ ...refused, code: 'LEAF_TAG_EXISTS' });
  });
});

describe('ShardRouter', () => {
  const tags = Array.from({ length: 3000 }, (_, n) => `tag-${n}`);
  const three = new ShardRouter(['a', 'b', 'c'], {});

  it('spreads tags evenly', () => {
    for (const name of ['a', 'b', 'c']) {
      const share = tags.filter((tag) => three.shardOf(tag) === name).length;
      expect(Math.abs(share - 1000)).toBeLessThan(100);
    }
  });

  it('moves tags to a new database only', () => {
    const four = new ShardRouter(['d', 'c', 'a', 'b'], {});
    const moved = tags.filter((tag) => three.shardOf(tag) !== four.shardOf(tag));
    expect(new Set(moved.map((tag) => four.shardOf(tag)))).toEqual(new Set(['d']));
    expect(Math.abs(moved.length - 750)).toBeLessThan(100);
  });

  it('stays where it was from release to release', () => {
    expect(
      tags
        .slice(0, 12)
        .map((tag) => three.shardOf(tag))
        .join(''),
    ).toBe('cacccbbaaaac');
  });

  it('prefers the map', () => {
    const router = new ShardRouter(['a', 'b'], { order: 'b', constructor: 'a' });
    expect([router.shardOf('order'), router.shardOf('constructor')]).toEqual(['b', 'a']);
    expect(['a', 'b']).toContain(router.shardOf('toString'));
  });
});
