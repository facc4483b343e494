import { type IdRange, periodRow } from '@leaf-ids/core';
import { givenTwice } from '../issued-ids';
import { REFUSED } from '../http/refusal';
import type { ShardedDatabases } from '../servers/shards';
import { day } from './period.contract';
import { PINNED, ROUTER, tagOf, type ThreeDatabases, ThreeDatabasesRig, type Urls } from './three-databases';

/** Contract of several databases between which tags move, most of them out of `c`. */
export function moveTagsContract(name: string, open: () => Promise<ThreeDatabases>): void {
  describe(`${name}: a tag that moves to another database`, () => {
    const rig = new ThreeDatabasesRig(open);
    const { startServer, execute, failing, move, check } = rig;

    it('moves a tag with its settings, periods and records, and none that is in its database', async () => {
      const old = await startServer();
      const [invoice, stays] = [tagOf('b', 'invoice'), tagOf('a')];
      await old.tags.create({ tag: stays, step: 10 });
      const daily = { tag: invoice, step: 10, reset: 'daily', zone: 'Europe/Berlin' } as const;
      const kind = await old.tags.create({ ...daily, maxId: 7n });
      await old.tags.create({ tag: 'shared', step: 10, interleave: { of: 3, remainder: 0, block: 100 } });
      await old.segments.beginPeriod(invoice, kind, day(), 1n);
      await old.segments.allocate(periodRow(invoice, day().name), 10);
      const pins = { [invoice]: 'a', [stays]: 'c' };
      const moved = { tags: [{ tag: invoice, from: 'c', to: 'a', rows: 2 }] };
      expect(await move(pins, { dryRun: true })).toEqual({ dryRun: true, ...moved });
      expect((await old.segments.allocate(periodRow(invoice, day().name), 1)).from).toBe(17n);
      expect(await move(pins)).toEqual({ dryRun: false, ...moved });
      expect(await move(pins)).toEqual({ dryRun: false, tags: [] });
      expect((await old.segments.allocate(stays, 1)).from).toBe(1n);
      const refused = {
        code: 'LEAF_TAG_ROW_INVALID',
        message: expect.stringContaining('leaf-server move-tags') as string,
      };
      await old.segments.listTags();
      await expect(old.segments.allocate(periodRow(invoice, day().name), 1)).rejects.toMatchObject(refused);
      const next = await startServer(['a', 'b', 'c'], pins);
      expect(await next.tags.find(invoice)).toMatchObject({ reset: 'daily', zone: 'Europe/Berlin' });
      expect((await next.segments.allocate(periodRow(invoice, day().name), 1)).from).toBe(18n);
      await next.segments.beginPeriod(invoice, kind, day(1), 1n);
      expect((await next.segments.allocate(periodRow(invoice, day(1).name), 1)).from).toBe(7n);
      await next.tags.remove(invoice);
      // The former database has its end on record.
      await expect(next.tags.create(daily)).rejects.toMatchObject({ code: 'LEAF_TAG_EXISTS' });
    });

    it('a tag that was moved does not start over when its new database loses it', async () => {
      const old = await startServer();
      const [plain, strict] = [tagOf('a'), tagOf('a', 'strict')];
      await old.tags.create({ tag: plain, step: 10 });
      await old.tags.create({ tag: strict, step: 10, order: 'strict' });
      await old.segments.allocate(plain, 30);
      await move(PINNED);
      const next = await startServer(['a', 'b', 'c'], PINNED);
      expect((await next.segments.allocate(plain, 30)).from).toBe(31n);
      for (const table of ['leaf_alloc', 'leaf_deleted_tag']) await execute('a', `DELETE FROM ${table}`);
      const later = await startServer(['a', 'b', 'c'], PINNED);
      expect((await later.tags.create({ tag: plain, step: 10 })).maxId).toBeGreaterThan(60n);
      const again = later.tags.create({ tag: strict, step: 10, order: 'strict' });
      await expect(again).rejects.toMatchObject({ code: 'LEAF_TAG_EXISTS' });
    });

    it('a tag goes back and forth without a gap', async () => {
      const old = await startServer();
      const tag = tagOf('a');
      await old.tags.create({ tag, step: 10, max: 1000n });
      await old.segments.allocate(tag, 30);
      await move({ [tag]: 'a' });
      const next = await startServer(['a', 'b', 'c'], { [tag]: 'a' });
      expect((await next.segments.allocate(tag, 30)).from).toBe(31n);
      await move({});
      expect((await (await startServer()).segments.allocate(tag, 30)).from).toBe(61n);
    });

    it('issues nothing from two rows: that of a promoted replica without the move, and the moved one', async () => {
      const old = await startServer();
      const tag = tagOf('a');
      await old.tags.create({ tag, step: 10 });
      await old.segments.allocate(tag, 30);
      await move(PINNED);
      const next = await startServer(['a', 'b', 'c'], PINNED);
      await next.segments.allocate(tag, 1000);
      await execute('c', `INSERT INTO leaf_alloc (biz_tag, max_id, step, issue_limit) VALUES ('${tag}', 31, 10, 2561)`);
      await execute('c', 'DELETE FROM leaf_deleted_tag');
      await next.segments.listTags();
      expect((await next.segments.allocate(tag, 1)).from).toBe(1031n);
      // A server with the former settings moves the replica on.
      await execute('c', "UPDATE leaf_segment_server SET server = 'the former primary'");
      await old.segments.allocate(tagOf('b', 'other'), 1).catch(() => undefined);
      const ranges = [];
      for (const { segments } of [old, next, old, next]) {
        await segments.listTags();
        ranges.push(await segments.allocate(tag, 1).catch(() => undefined));
      }
      const fromNext = [ranges[1], ranges[3]];
      const fromOld = [ranges[0], ranges[2]];
      expect(fromNext.includes(undefined) || fromOld.every((range) => range === undefined)).toBe(true);
    });

    it('refuses a gapless tag, whose journal stays where it is', async () => {
      const old = await startServer();
      const tag = tagOf('a');
      await old.tags.create({ tag, step: 10, order: 'gapless' });
      await expect(move({ [tag]: 'b' }, { only: [tag] })).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
      expect(await old.tags.find(tag)).toMatchObject({ order: 'gapless' });
    });

    it('moves only the tags that are named, and refuses an interleaved one', async () => {
      const old = await startServer();
      const [first, second] = [tagOf('a'), tagOf('b')];
      for (const tag of [first, second]) await old.tags.create({ tag, step: 10 });
      await old.tags.create({ tag: 'shared', step: 10, interleave: { of: 3, remainder: 0, block: 100 } });
      const pins = { [first]: 'a', [second]: 'b', shared: 'b' };
      const only = ['shared', first];
      await expect(move(pins, { only })).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
      expect((await old.segments.allocate(first, 1)).from).toBe(1n);
      expect(await move(pins, { only: [first] })).toMatchObject({ tags: [{ tag: first, to: 'a' }] });
      expect((await old.segments.allocate(second, 1)).from).toBe(1n);
    });

    it('a move is taken back above what its new database has issued', async () => {
      const names = Array.from({ length: 1000 }, (_, n) => `back${n}`);
      const tag = names.find((each) => ROUTER.shardOf(each) === 'a')!;
      const old = await startServer();
      await old.tags.create({ tag, step: 10 });
      await old.segments.allocate(tag, 30);
      const failure = failing('a', 'DELETE ON leaf_alloc');
      for (const sql of failure.create) await execute('a', sql);
      await expect(move({ [tag]: 'c' })).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
      await execute('a', failure.drop);
      const next = await startServer(['a', 'b', 'c'], { [tag]: 'c' });
      expect((await next.segments.allocate(tag, 100)).from).toBe(31n);
      const other = failing('c', 'UPDATE ON leaf_alloc');
      for (const sql of other.create) await execute('c', sql);
      await expect(move({})).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
      await expect(old.segments.allocate(tag, 1)).rejects.toBeDefined();
      await execute('c', other.drop);
      // Other tags are named, and this one was interrupted. Its own database comes first in the list.
      await move({}, { only: ['other'] });
      expect((await (await startServer()).segments.allocate(tag, 1)).from).toBe(131n);
    });

    it.each<[stage: string, database: keyof Urls, trigger: string]>([
      ['before a tag is inserted', 'a', 'INSERT ON leaf_alloc'],
      ['before a tag that was inserted is deleted', 'c', 'DELETE ON leaf_alloc'],
    ])('a move that ends half way, %s, is finished or taken back by another one', async (_, database, trigger) => {
      const old = await startServer();
      const tags = [tagOf('a'), tagOf('a', 'invoice')] as const;
      for (const tag of tags) await old.tags.create({ tag, step: 10 });
      const issued = new Map(tags.map((tag) => [tag, [] as IdRange[]]));
      const take = async ({ segments }: ShardedDatabases, tag: string): Promise<void> => {
        issued.get(tag)!.push(await segments.allocate(tag, 10));
      };
      for (const tag of tags) await take(old, tag);
      const failure = failing(database, trigger);
      for (const sql of failure.create) await execute(database, sql);
      const pins = { [tags[0]]: 'a', [tags[1]]: 'a' };
      await expect(move(pins)).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
      const both = [old, await startServer(['a', 'b', 'c'], pins)];
      for (const server of both) for (const tag of tags) await take(server, tag).catch(() => undefined);
      await execute(database, failure.drop);
      for (const server of both) {
        for (const tag of tags) {
          await expect(server.tags.create({ tag, step: 1 })).rejects.toEqual(REFUSED('LEAF_TAG_EXISTS'));
        }
      }
      const half = { [tags[0]]: 'a' };
      await move(half);
      expect(await move(half)).toEqual({ dryRun: false, tags: [] });
      const next = await startServer(['a', 'b', 'c'], half);
      for (const tag of tags) for (let n = 0; n < 3; n++) await take(next, tag);
      for (const tag of tags) expect(givenTwice(issued.get(tag)!)).toStrictEqual([]);
      expect(await check(['a', 'b', 'c'], half)).toMatchObject({ ok: true, problems: [] });
    });
  });
}
