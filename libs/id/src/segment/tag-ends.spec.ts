import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_ID, type TagPage, type TagRow, type TagStore } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { TagEnds } from './tag-ends';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('TagEnds', () => {
  let clock: FakeClock;
  let rows: Map<string, TagRow>;
  let directory: string;
  let file: string;
  let stopping: AbortController;
  let warnings: string[];
  let ends: TagEnds;
  let broken: boolean;

  const store = {
    list({ after = '', limit = 1 }: TagPage): Promise<TagRow[]> {
      if (broken) return Promise.reject(new Error('the database is down'));
      const names = [...rows.keys()].sort().filter((tag) => tag > after);
      return Promise.resolve(names.slice(0, limit).flatMap((tag) => rows.get(tag) ?? []));
    },
  } as TagStore;

  beforeEach(async () => {
    clock = new FakeClock();
    rows = new Map();
    stopping = new AbortController();
    warnings = [];
    broken = false;
    directory = await mkdtemp(join(tmpdir(), 'leaf-tag-ends-'));
    file = join(directory, 'leaf', 'tag-ends.json');
    ends = start();
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  function start(): TagEnds {
    const logger = { warn: (message: string) => warnings.push(message), log: () => undefined, error: () => undefined };
    return new TagEnds(store, clock, logger, { file, signal: stopping.signal });
  }

  function put(tag: string, maxId: number | bigint, more: Partial<TagRow> = {}): TagRow {
    const row = { ...rows.get(tag), tag, maxId: BigInt(maxId), step: 10, order: 'relaxed', ...more } as TagRow;
    rows.set(tag, row);
    return row;
  }

  /** Hours until the tag ends. */
  function hours(tag: string): number | undefined {
    const endsAt = ends.endOf(rows.get(tag)!);
    return endsAt === undefined ? undefined : (endsAt - clock.now()) / HOUR_MS;
  }

  /** Takes IDs of the tag each hour. */
  async function pass(count: number, tag: string, perHour: number): Promise<void> {
    for (let hour = 0; hour < count; hour++) {
      clock.step(HOUR_MS);
      put(tag, rows.get(tag)!.maxId + BigInt(perHour));
      await ends.run();
    }
  }

  it('divides what is left by the rate, after an hour', async () => {
    put('order', 1, { max: 1000n });
    await ends.run();
    clock.step(HOUR_MS - 1);
    put('order', 101);
    await ends.run();
    expect(ends.list).toStrictEqual([]);
    clock.step(1);
    await ends.run();
    expect(hours('order')).toBe(9);
    expect(ends.list).toEqual([{ tag: 'order', endsAt: clock.now() + 9 * HOUR_MS }]);
    expect(warnings).toStrictEqual([]);
  });

  it('takes the rate of the last one to two days', async () => {
    put('order', 1, { max: 1_000_000n });
    await ends.run();
    await pass(72, 'order', 1000);
    expect(hours('order')).toBeCloseTo(928, 6);
    await pass(12, 'order', 10);
    expect(hours('order')).toBeCloseTo((1_000_000 - 72_120) / ((24_000 + 120) / 36), 3);
    await pass(12, 'order', 10);
    expect(hours('order')).toBe((1_000_000 - 72_240) / 10);
  });

  it('counts a change of max at once, and lists it at the next run', async () => {
    put('order', 1, { max: 1000n });
    await ends.run();
    await pass(2, 'order', 100);
    expect(hours('order')).toBe(8);
    put('order', 201, { max: 2000n });
    expect(hours('order')).toBe(18);
    await ends.run();
    expect(ends.list).toEqual([{ tag: 'order', endsAt: clock.now() + 18 * HOUR_MS }]);
    put('order', 201, { max: 100n });
    expect(hours('order')).toBe(0);
    put('order', 201, { max: undefined });
    expect(hours('order')).toBeUndefined();
  });

  it('knows the end of the 64 bits', async () => {
    put('order', MAX_ID - 1001n);
    await ends.run();
    await pass(1, 'order', 1);
    expect(hours('order')).toBe(1000);
  });

  it('has no estimate for a tag that does not move, restarts each period or is gapless', async () => {
    put('idle', 1, { max: 10n });
    put('daily', 1, { max: 1000n, reset: 'daily' });
    put('invoice', 1, { max: 1000n, order: 'gapless' });
    put('order', 1, { max: 1000n });
    await ends.run();
    clock.step(HOUR_MS);
    for (const tag of ['daily', 'invoice', 'order']) put(tag, 101);
    await ends.run();
    expect(ends.list.map(({ tag }) => tag)).toEqual(['order']);
  });

  it('begins anew with a tag that was created again below, and forgets one that is gone', async () => {
    put('order', 5000, { max: 10_000n });
    await ends.run();
    await pass(2, 'order', 100);
    expect(hours('order')).toBeDefined();
    put('order', 1);
    await ends.run();
    expect(hours('order')).toBeUndefined();
    await pass(1, 'order', 100);
    expect(hours('order')).toBe(99);
    rows.delete('order');
    await ends.run();
    put('order', 301);
    await ends.run();
    expect(hours('order')).toBeUndefined();
  });

  it('keeps its history when a stop gives IDs back', async () => {
    put('order', 1, { max: 10_000n });
    await ends.run();
    clock.step(DAY_MS);
    put('order', 1001);
    await ends.run();
    clock.step(DAY_MS);
    put('order', 901);
    await ends.run();
    clock.step(DAY_MS);
    put('order', 1801);
    await ends.run();
    expect(hours('order')).toBe((8200 / 900) * 24);
  });

  it('continues after a restart, without the time in which it did not run', async () => {
    put('order', 1, { max: 1000n });
    await ends.run();
    await pass(1, 'order', 100);
    ends = start();
    expect(ends.list).toStrictEqual([]);
    clock.step(HOUR_MS);
    put('order', 201);
    await ends.run();
    expect(hours('order')).toBe(8);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      order: [clock.now() - 2 * HOUR_MS, '1', clock.now() - 2 * HOUR_MS, '1'],
    });
  });

  it.each(['', 'torn {', 'null', '[]', '7', '{"order":[1,"x",2,"3"]}', '{"order":[9,"1",2,"3"]}', '{"order":"1"}'])(
    'counts the file %j as empty',
    async (content) => {
      put('order', 101, { max: 1000n });
      await ends.run();
      await writeFile(file, content);
      ends = start();
      await ends.run();
      expect(ends.list).toStrictEqual([]);
      await pass(1, 'order', 100);
      expect(hours('order')).toBe(8);
      expect(warnings).toStrictEqual([]);
    },
  );

  it('begins anew when the clock was set back', async () => {
    put('order', 1, { max: 1000n });
    await ends.run();
    clock.step(-DAY_MS);
    put('order', 101);
    await ends.run();
    await pass(1, 'order', 100);
    expect(hours('order')).toBe(8);
  });

  it('lists the 100 tags that end first, and watches the 10,000 with the fewest IDs left', async () => {
    for (let index = 0; index < 10_500; index++) put(`tag-${index}`, 1, { max: BigInt(1_000_000 - index) });
    await ends.run();
    clock.step(HOUR_MS);
    for (const tag of rows.keys()) put(tag, 101);
    await ends.run();
    expect(ends.list).toHaveLength(100);
    expect(ends.list[0]?.tag).toBe('tag-10499');
    expect(hours('tag-500')).toBeDefined();
    expect(hours('tag-499')).toBeUndefined();
  });

  it('keeps its estimates while the database is down, and writes nothing after the stop', async () => {
    put('order', 1, { max: 1000n });
    await ends.run();
    await pass(1, 'order', 100);
    broken = true;
    await ends.run();
    expect(ends.list).toHaveLength(1);
    expect(warnings).toEqual([expect.stringContaining('the database is down')]);
    broken = false;
    await rm(directory, { recursive: true });
    stopping.abort();
    await ends.run();
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(warnings).toHaveLength(1);
  });
});
