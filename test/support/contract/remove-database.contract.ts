import { type IdRange, LeafError, periodRow } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, type SegmentIdGenerator, systemRandom } from '@leaf-ids/core/internal';
import {
  createTagStore,
  type MovedTag,
  parseDatabaseUrl,
  type RemovalReport,
  removeDatabase,
} from '@leaf-ids/persistence';
import { givenTwice } from '../issued-ids';
import { REFUSED } from '../http/refusal';
import type { ShardedDatabases } from '../servers/shards';
import { day } from './period.contract';
import { clock, connect } from './sql-stores';
import { until } from '../until';
import { PINNED, ROUTER, SHORT, tagOf, type ThreeDatabases, ThreeDatabasesRig, type Urls } from './three-databases';

const TAKEN_OUT = expect.stringContaining('"c" was removed with leaf-server remove-database') as string;

/** Contract of several databases, one of which, `c`, is taken out of their list. */
export function removeDatabaseContract(name: string, open: () => Promise<ThreeDatabases>): void {
  describe(`${name}: a database that is taken out of the list`, () => {
    const rig = new ThreeDatabasesRig(open);
    const { startServer, generatorOf, execute, failing, remove, move, check } = rig;

    it.each<
      [string, () => Promise<{ tags: readonly MovedTag[] }>, (tags: readonly string[]) => Promise<ShardedDatabases>]
    >([
      ['hands its tags over', remove, () => startServer(['a', 'b'])],
      ['moves tags', () => move(PINNED), () => startServer(['a', 'b', 'c'], PINNED)],
    ])('%s under calls: no ID twice, each server ascending', async (_, act, restart) => {
      const old = await startServer();
      const tags = ['a', 'b'].map((next) => tagOf(next));
      for (const tag of tags) await old.tags.create({ tag, step: 5, maxStep: 5 });
      const strict = tagOf('a', 'strict');
      await old.tags.create({ tag: strict, step: 5, order: 'strict' });
      const issued = new Map([...tags, strict].map((tag) => [tag, [] as IdRange[]]));
      const descents: string[] = [];
      let ended = false;
      const refusals = new Set<string>();
      const take = async (generator: SegmentIdGenerator, tag: string): Promise<void> => {
        for (let last = 0n; !ended;) {
          try {
            const id = await generator.next(tag);
            if (id <= last) descents.push(`${tag}: ${id} after ${last}`);
            last = id;
            issued.get(tag)!.push({ from: id, to: id });
          } catch (error) {
            if (!(error instanceof LeafError)) throw error;
            refusals.add(error.code);
          }
          // SQLite answers without leaving the turn of the event loop.
          await clock.sleep(1);
        }
      };
      const callers = [generatorOf(old), generatorOf(await startServer())].flatMap((generator) =>
        [...issued.keys()].map((tag) => take(generator, tag)),
      );
      /** Each of these tags gives so many IDs more. */
      const serving = async (count: number): Promise<void> => {
        const wanted = [...issued.values()].map(({ length }) => length + count);
        await until('IDs of all tags', () =>
          [...issued.values()].every(({ length }, index) => length >= wanted[index]!),
        );
      };
      await serving(15);
      const report = await act();
      expect(report.tags).toEqual(
        [...issued.keys()].sort().map((tag) => ({ tag, from: 'c', to: SHORT.shardOf(tag), rows: 1 })),
      );
      const highest = [...(issued.get(strict) ?? [])].reduce((top, { to }) => (to > top ? to : top), 0n);
      const next = await restart(tags);
      expect((await next.segments.allocate(strict, 1)).from).toBeGreaterThan(highest);
      const later = generatorOf(next);
      callers.push(...[...issued.keys()].map((tag) => take(later, tag)));
      await serving(15);
      ended = true;
      await Promise.all(callers);
      expect(descents).toStrictEqual([]);
      for (const ranges of issued.values()) expect(givenTwice(ranges)).toStrictEqual([]);
      expect(
        [...refusals].filter((code) => !['LEAF_TAG_ROW_INVALID', 'LEAF_TAG_NOT_FOUND'].includes(code)),
      ).toStrictEqual([]);
      expect(next.reports).toStrictEqual([]);
    });

    it('moves the settings, the periods and what was issued before a deletion', async () => {
      const old = await startServer();
      const [plain, invoice, gone] = [tagOf('a'), tagOf('b', 'invoice'), tagOf('a', 'gone')];
      await old.tags.create({ tag: plain, step: 10, maxStep: 40, max: 10n ** 18n, description: 'Orders' });
      const kind = await old.tags.create({ tag: invoice, step: 10, reset: 'daily', zone: 'Europe/Berlin', maxId: 7n });
      await old.tags.create({ tag: gone, step: 10 });
      await old.segments.allocate(plain, 1000);
      await old.segments.allocate(gone, 500);
      await old.segments.beginPeriod(invoice, kind, day(), 1n);
      await old.segments.allocate(periodRow(invoice, day().name), 10);
      await old.tags.remove(gone);
      const before = { ...(await old.tags.find(plain)), updatedAt: undefined };
      expect(await remove({ dryRun: true })).toMatchObject({ dryRun: true, tags: [{ rows: 2 }, { rows: 1 }] });
      expect((await old.segments.allocate(plain, 1)).from).toBe(1001n);
      await remove();
      const next = await startServer(['a', 'b']);
      expect({ ...(await next.tags.find(plain)), updatedAt: undefined }).toEqual({ ...before, maxId: 1002n });
      expect(await next.segments.allocate(plain, 1)).toMatchObject({ from: 1002n, maxStep: 40 });
      await next.segments.beginPeriod(invoice, kind, day(), 1n);
      expect((await next.segments.allocate(periodRow(invoice, day().name), 1)).from).toBe(17n);
      await next.segments.beginPeriod(invoice, kind, day(1), 1n);
      expect((await next.segments.allocate(periodRow(invoice, day(1).name), 1)).from).toBe(7n);
      expect((await next.tags.create({ tag: gone, step: 10 })).maxId).toBe(501n);
    });

    it('is refused to servers with the old list, and says which setting to change', async () => {
      const tag = tagOf('a');
      const old = await startServer();
      await old.tags.create({ tag, step: 10 });
      const kind = await old.tags.create({ tag: tagOf('b', 'invoice'), step: 1, reset: 'daily', zone: 'UTC' });
      await old.segments.allocate(tag, 1);
      await remove();
      const message = TAKEN_OUT;
      for (const server of [old, await startServer()]) {
        const refused = { code: 'LEAF_TAG_ROW_INVALID', message };
        expect(await server.segments.allocateAll([{ tag, size: 1 }])).toMatchObject([refused]);
        await expect(server.segments.allocate(tag, 1)).rejects.toMatchObject(refused);
        await server.segments.listTags();
        await expect(server.segments.findTag(tag)).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID', message });
        const begun = server.segments.beginPeriod(kind.tag, kind, day(), 1n);
        await expect(begun).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID', message });
        for (const each of [tag, tagOf('b', 'new'), 'other']) {
          const created = server.tags.create({ tag: each, step: 1 });
          await expect(created).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE', message });
        }
        // Also one that has read the list of databases before the removal.
        const created = server.shards.of(tag).stores.tags.createAbove({ tag, step: 1 });
        await expect(created).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE', message: TAKEN_OUT });
        expect(server.reports).toEqual([TAKEN_OUT]);
      }
      expect((await check(['a', 'b', 'c'])).problems).toContainEqual(TAKEN_OUT);
    });

    it('gets no tag from creations that are under way', async () => {
      const old = [await startServer(), await startServer()];
      const names = Array.from({ length: 400 }, (_, n) => `new${n}`).filter((tag) => ROUTER.shardOf(tag) === 'c');
      const creations = names.map((tag, n) =>
        old[n % 2]!.tags.create({ tag, step: 1 }).then(
          () => tag,
          () => undefined,
        ),
      );
      await creations[5];
      await remove();
      const created = (await Promise.all(creations)).filter((tag) => tag !== undefined);
      const next = await startServer(['a', 'b']);
      const found = (await next.tags.list()).map(({ tag }) => tag).filter((tag) => tag.startsWith('new'));
      expect(found.sort()).toEqual(created.sort());
      expect(await execute('c', "SELECT biz_tag FROM leaf_alloc WHERE biz_tag LIKE '%new%'")).toStrictEqual([]);
    });

    it('keeps an interleaved tag whole: nothing is changed', async () => {
      const old = await startServer();
      const tag = tagOf('a');
      await old.tags.create({ tag, step: 1 });
      await old.tags.create({ tag: 'shared', step: 10, interleave: { of: 3, remainder: 0, block: 100 } });
      for (const dryRun of [true, false]) {
        const message = expect.stringContaining('delete "shared" with DELETE /api/tags/shared') as string;
        await expect(remove({ dryRun })).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID', message });
      }
      expect((await old.segments.allocate(tag, 1)).from).toBe(1n);
      await old.segments.allocate('shared', 1000);
      const { maxId } = await old.tags.remove('shared');
      await remove();
      const next = await startServer(['a', 'b']);
      const again = { tag: 'shared', step: 10, interleave: { of: 2, remainder: 0, block: 100 } };
      expect((await next.tags.create(again)).maxId).toBeGreaterThanOrEqual(maxId);
    });

    it.each<[stage: string, database: keyof Urls, trigger: string, state: 'open' | 'frozen' | 'moved']>([
      ['before it is frozen', 'c', 'UPDATE ON leaf_registry', 'open'],
      ['before a tag is inserted', 'b', 'INSERT ON leaf_alloc', 'frozen'],
      ['before a tag that was inserted is deleted', 'c', 'DELETE ON leaf_alloc', 'frozen'],
      ['before the others record it', 'a', 'UPDATE ON leaf_registry', 'moved'],
    ])('that ends half way, %s, is finished by a repetition', async (_, database, trigger, state) => {
      const old = await startServer();
      const tags = ['a', 'b'].map((next) => tagOf(next));
      for (const tag of tags) await old.tags.create({ tag, step: 10 });
      const ranges: IdRange[] = [];
      const take = async ({ segments }: ShardedDatabases, tag: string, size: number): Promise<void> => {
        if (tag === tags[1]) ranges.push(await segments.allocate(tag, size));
        else await segments.allocate(tag, size);
      };
      for (const tag of tags) await take(old, tag, 30);
      const failure = failing(database, trigger);
      for (const sql of failure.create) await execute(database, sql);
      await expect(remove()).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
      // A server with the new list creates no tag: it may be one that was not moved yet.
      const early = await startServer(['a', 'b']);
      const created = early.tags.create({ tag: tagOf('a', 'other'), step: 1 });
      await expect(created).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
      for (const tag of tags) {
        const taken = take(old, tag, 10);
        if (state !== 'open') await expect(taken).rejects.toMatchObject({ message: TAKEN_OUT });
        else await taken;
        const takenEarly = take(early, tag, 10);
        if (state === 'moved') await takenEarly;
        else await takenEarly.catch((error: unknown) => expect(error).toEqual(REFUSED('LEAF_TAG_ROW_INVALID')));
      }
      await execute(database, failure.drop);
      const again = { ...(await remove()), ...(await remove()) };
      expect(again).toMatchObject({ remaining: ['a', 'b'], tags: [] });
      const next = await startServer(['a', 'b']);
      for (const tag of tags) for (let n = 0; n < 3; n++) await take(next, tag, 10);
      expect(givenTwice(ranges)).toStrictEqual([]);
      expect(ranges.reduce((top, { to }) => (to > top ? to : top), 0n)).toBe(BigInt(10 * (ranges.length - 1) + 30));
      expect(await check(['a', 'b'])).toMatchObject({ ok: true });
    });

    it('moves the tags of a promoted replica forward that no server has used yet', async () => {
      const old = await startServer();
      const tag = tagOf('a');
      await old.tags.create({ tag, step: 10 });
      await old.segments.allocate(tag, 30);
      await execute('c', "UPDATE leaf_segment_server SET server = 'the former primary'");
      await remove();
      const next = await startServer(['a', 'b']);
      const least = BigInt(10 * DEFAULT_SEGMENT_OPTIONS.maxStep);
      expect((await next.segments.allocate(tag, 1)).from).toBeGreaterThan(least);
    });

    it('issues nothing to servers with the old list when an older copy of it has its tags again', async () => {
      const old = await startServer();
      const [tag, invoice] = [tagOf('a'), tagOf('b', 'invoice')];
      await old.tags.create({ tag, step: 10 });
      const kind = await old.tags.create({ tag: invoice, step: 1, reset: 'daily', zone: 'UTC' });
      await old.segments.allocate(tag, 30);
      await remove();
      await execute('c', `UPDATE leaf_registry SET document = '{}' WHERE name = 'database:c'`);
      await execute('c', `INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('${tag}', 31, 10)`);
      const values = `('${invoice}', 9223372036854775807, 1, 1, 'daily', 'UTC', 1)`;
      const columns = 'biz_tag, max_id, next_id, step, reset_every, time_zone, period_start';
      await execute('c', `INSERT INTO leaf_alloc (${columns}) VALUES ${values}`);
      await old.segments.listTags();
      const refused = { code: 'LEAF_TAG_ROW_INVALID', message: TAKEN_OUT };
      await expect(old.segments.allocate(tag, 1)).rejects.toMatchObject(refused);
      expect(await old.segments.allocateAll([{ tag, size: 1 }])).toMatchObject([refused]);
      await expect(old.segments.beginPeriod(invoice, kind, day(), 1n)).rejects.toMatchObject(refused);
    });

    it('issues nothing from a replica without the removal, before a server has looked at the list again', async () => {
      const old = await startServer();
      const tag = tagOf('a');
      await old.tags.create({ tag, step: 10 });
      await old.segments.allocate(tag, 30);
      await remove();
      await execute('c', `UPDATE leaf_registry SET document = '{}' WHERE name = 'database:c'`);
      await execute('c', `INSERT INTO leaf_alloc (biz_tag, max_id, step, issue_limit) VALUES ('${tag}', 31, 10, 2561)`);
      await execute('c', "UPDATE leaf_segment_server SET server = 'the former primary'");
      const refused = { code: 'LEAF_STORE_UNAVAILABLE', message: TAKEN_OUT };
      expect(await old.segments.allocateAll([{ tag, size: 1 }])).toMatchObject([refused]);
      await expect(old.shards.of(tag).stores.segments.allocate(tag, 1)).rejects.toMatchObject(refused);
    });

    it('is missing again when a database that got its tags is an older copy: they do not restart', async () => {
      const old = await startServer();
      const [tag, invoice] = [tagOf('b'), tagOf('b', 'invoice')];
      await old.tags.create({ tag, step: 10 });
      const kind = await old.tags.create({ tag: invoice, step: 1, reset: 'daily', zone: 'UTC' });
      await old.segments.allocate(tag, 30);
      await old.segments.beginPeriod(invoice, kind, day(), 1n);
      await old.segments.allocate(periodRow(invoice, day().name), 20);
      await remove();
      for (const table of ['leaf_alloc', 'leaf_deleted_tag']) await execute('b', `DELETE FROM ${table}`);
      await execute('b', `UPDATE leaf_registry SET document = '{}' WHERE name = 'database:c'`);
      const next = await startServer(['a', 'b']);
      await expect(next.segments.allocate(tag, 1)).rejects.toEqual(REFUSED('LEAF_TAG_ROW_INVALID'));
      await expect(next.tags.create({ tag, step: 1 })).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
      expect(await check(['a', 'b'])).toMatchObject({ ok: false });
      await remove();
      expect((await next.tags.create({ tag, step: 1 })).maxId).toBeGreaterThanOrEqual(31n);
      await next.tags.create({ tag: invoice, step: 1, reset: 'daily', zone: 'UTC' });
      await next.segments.beginPeriod(invoice, kind, day(), 1n);
      expect((await next.segments.allocate(periodRow(invoice, day().name), 1)).from).toBeGreaterThanOrEqual(21n);
    });

    it('hands over what was created in it after it was frozen', async () => {
      await startServer();
      const failure = failing('b', 'INSERT ON leaf_alloc');
      await (await startServer()).tags.create({ tag: tagOf('b'), step: 10 });
      for (const sql of failure.create) await execute('b', sql);
      await expect(remove()).rejects.toEqual(REFUSED('LEAF_STORE_UNAVAILABLE'));
      await execute('b', failure.drop);
      await execute('c', `INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('${tagOf('a')}', 51, 10)`);
      await remove();
      const next = await startServer(['a', 'b']);
      expect((await next.segments.allocate(tagOf('a'), 1)).from).toBe(51n);
    });

    it('gives no tags to another one that is taken out at the same time', async () => {
      const old = await startServer();
      const tags = Array.from({ length: 40 }, (_, n) => `tag${n}`);
      for (const tag of tags) {
        await old.tags.create({ tag, step: 10 });
        await old.segments.allocate(tag, 30);
      }
      const take = (database: string): Promise<RemovalReport> =>
        removeDatabase({ shards: { databases: rig.urls }, database, dryRun: false }, clock, systemRandom);
      await Promise.allSettled(['b', 'c'].map(take));
      for (const database of ['b', 'c']) expect((await take(database)).remaining).toEqual(['a']);
      const next = await startServer(['a']);
      for (const tag of tags) expect((await next.segments.allocate(tag, 1)).from).toBe(31n);
      expect(await check(['a'])).toMatchObject({ ok: true });
    });

    it('leaves a last database that needs no list, and issues nothing itself', async () => {
      const tag = tagOf('a');
      await (await startServer()).tags.create({ tag, step: 10 });
      await remove();
      await removeDatabase(
        { shards: { databases: { a: rig.urls.a, b: rig.urls.b } }, database: 'b', dryRun: false },
        clock,
        systemRandom,
      );
      for (const [each, outcome] of [
        ['a', { maxId: 1n }],
        ['c', REFUSED('LEAF_STORE_UNAVAILABLE')],
        ['b', REFUSED('LEAF_STORE_UNAVAILABLE')],
      ] as const) {
        const dataSource = await connect(parseDatabaseUrl(rig.urls[each]));
        rig.closeLater(() => dataSource.destroy());
        const created = createTagStore(dataSource).create({ tag: 'alone', step: 1 });
        expect(await created.catch((error: unknown) => error)).toEqual(
          each === 'a' ? expect.objectContaining(outcome) : outcome,
        );
      }
      const options = { shards: { databases: { a: rig.urls.a } }, database: 'a', dryRun: false };
      await expect(removeDatabase(options, clock, systemRandom)).rejects.toEqual(REFUSED('LEAF_CONFIG_INVALID'));
    });
  });
}
