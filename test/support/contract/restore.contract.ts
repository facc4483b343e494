import { inspect } from 'node:util';
import {
  type Allocation,
  MAX_ID,
  MAX_RANGE_SIZE,
  type NewTag,
  periodRow,
  type SegmentStore,
  type TagStore,
} from '@leaf-ids/core';
import { createSegmentStore, createTagStore, type LeafDataSource, moveAfterRestore } from '@leaf-ids/persistence';
import { day } from './period.contract';
import { REFUSED } from '../http/refusal';

export interface DatabaseFixture {
  readonly database: LeafDataSource;
  close(): Promise<void>;
}

const GAP = 10n * BigInt(MAX_RANGE_SIZE);
const INVOICE: NewTag = { tag: 'invoice', step: 10, reset: 'daily', zone: 'UTC' };

/** Lets something happen while the next allocation is on its way to the database, or its answer on the way back. */
function delayNextAllocation(
  { access }: LeafDataSource,
  meanwhile: () => Promise<void>,
  delayed: 'request' | 'answer' = 'request',
): void {
  const original = { run: access.run.bind(access), runTogether: access.runTogether.bind(access) };
  const slow =
    <Arguments extends unknown[], Answer>(send: (...sent: Arguments) => Promise<Answer>) =>
    async (...sent: Arguments): Promise<Answer> => {
      if (!inspect(sent).includes('UPDATE leaf_alloc')) return send(...sent);
      Object.assign(access, original);
      if (delayed === 'request') await meanwhile();
      const answer = await send(...sent);
      if (delayed === 'answer') await meanwhile();
      return answer;
    };
  Object.assign(access, { run: slow(original.run), runTogether: slow(original.runTogether) });
}

/** Contract of every database after it was restored from a backup. */
export function restoreContract(name: string, open: () => Promise<DatabaseFixture>): void {
  describe(`${name}, restored from a backup`, () => {
    let fixture: DatabaseFixture;
    let tags: TagStore;
    let store: SegmentStore;
    let messages: string[];

    beforeEach(async () => {
      fixture = await open();
      messages = [];
      tags = createTagStore(fixture.database);
      store = newServer();
    });
    afterEach(() => fixture.close());

    function newServer(gapSteps = 10): SegmentStore {
      return createSegmentStore(fixture.database, { gapSteps, onFailover: (text) => messages.push(text) });
    }
    async function first(row: string, from: SegmentStore = store): Promise<bigint> {
      return (await from.allocate(row, undefined)).from;
    }
    const execute = (sql: string): Promise<unknown> => fixture.database.query(sql);
    const installedLongAgo = (): Promise<unknown> =>
      execute("UPDATE leaf_segment_server SET update_time = '2020-01-01 00:00:00'");

    it('moves tags, periods and deleted tags, and reports it', async () => {
      const invoice = await tags.create(INVOICE);
      await tags.create({ tag: 'order', step: 10 });
      await tags.create({ tag: 'shared', step: 10, interleave: { of: 2, remainder: 1, block: 100 } });
      await tags.create({ tag: 'gone', step: 10, maxId: 500n });
      await tags.remove('gone');
      await store.beginPeriod('invoice', invoice, day(), 1n);
      expect([await first('order'), await first(periodRow('invoice', day().name))]).toEqual([1n, 1n]);
      expect(await moveAfterRestore(fixture.database)).toEqual({
        ...{ database: store.description, ids: GAP, tags: 3, periods: 1 },
        deleted: expect.any(Number) as number,
      });
      const next = newServer();
      expect(await first('order', next)).toBe(11n + GAP);
      expect(await first(periodRow('invoice', day().name), next)).toBe(11n + GAP);
      expect(await first('shared', next)).toBe(101n + 2n * GAP);
      expect((await tags.create({ tag: 'gone', step: 10 })).maxId).toBe(500n + GAP);
      expect(messages).toStrictEqual([]);
    });

    it.each([
      ['with the default gap', undefined, 10_000_001n],
      ['with a smaller gap', { steps: 1, least: 5000 }, 5001n],
    ])('begins a period that is not in the backup above it, %s', async (_, gap, expected) => {
      const invoice = await tags.create(INVOICE);
      await tags.create({ tag: 'order', step: 10 });
      await first('order');
      await installedLongAgo();
      await moveAfterRestore(fixture.database, gap);
      const next = newServer();
      await next.beginPeriod('invoice', invoice, day(), 1n);
      expect(await first(periodRow('invoice', day().name), next)).toBe(expected);
      await installedLongAgo();
      await next.beginPeriod('invoice', invoice, day(1), 1n);
      expect(await first(periodRow('invoice', day(1).name), next)).toBe(1n);
    });

    it('keeps what an interleaved tag issued that was deleted in the backup, in all shares of the gap', async () => {
      const interleave = { of: 3, remainder: 0, block: 100_000 };
      const tag: NewTag = { tag: 'shared', step: 100_000, interleave };
      await tags.create(tag);
      await store.allocate('shared', 100_000);
      await tags.remove('shared');
      const [backup] = (await execute("SELECT * FROM leaf_deleted_tag WHERE biz_tag = 'shared'")) as object[];
      expect(backup).toBeDefined();
      await moveAfterRestore(fixture.database, { steps: 1, least: 1_000_000 });
      // What the lost changes may have issued: a million IDs of this database, in a space of three.
      expect((await tags.create(tag)).maxId).toBeGreaterThanOrEqual(100_001n + 3n * 1_000_000n);
    });

    it('never begins at 1 again though the max is near, and goes on once it is raised', async () => {
      const invoice = await tags.create({ ...INVOICE, max: 99_999n });
      await installedLongAgo();
      await moveAfterRestore(fixture.database);
      for (const gapSteps of [10, 0]) {
        const next = newServer(gapSteps);
        await next.beginPeriod('invoice', invoice, day(), 1n);
        await expect(first(periodRow('invoice', day().name), next)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
      }
      await tags.change('invoice', { max: 199_999n });
      expect(await first(periodRow('invoice', day().name))).toBe(100_000n);
    });

    it.each([
      ['last_id', MAX_ID],
      ['last_id', -MAX_ID],
      ['max_id', MAX_ID],
      ['max_id', -MAX_ID],
    ])('a row with %s %d does not stop the others', async (column, value) => {
      await tags.create({ tag: 'order', step: 10 });
      await tags.create({ ...INVOICE, tag: 'bad' });
      await execute(`UPDATE leaf_alloc SET ${column} = ${value} WHERE biz_tag = 'bad'`);
      await moveAfterRestore(fixture.database);
      expect(await first('order')).toBe(1n + GAP);
    });

    it('refuses an empty gap', async () => {
      await expect(moveAfterRestore(fixture.database, { steps: 0, least: 1 })).rejects.toEqual(
        REFUSED('LEAF_CONFIG_INVALID'),
      );
    });

    it('is noticed, once, by a server that refreshed after the backup', async () => {
      await tags.create({ tag: 'order', step: 10 });
      await tags.create({ tag: 'other', step: 10 });
      const [old, other] = [newServer(), newServer()];
      expect([await first('order', old), await first('other', other)]).toEqual([1n, 1n]);
      for (const server of [old, other, old]) await server.listTags();
      await execute('UPDATE leaf_alloc SET max_id = 1');
      await execute('UPDATE leaf_segment_server SET generation = 1');
      // This server has not had this tag before.
      expect(await first('order', other)).toBe(1n + GAP);
      expect([await first('order', old), await first('other', old)]).toEqual([11n + GAP, 1n + GAP]);
      expect(messages).toEqual([expect.stringContaining('a backup was restored')]);
    });

    it.each<[string, (server: SegmentStore) => Promise<bigint>]>([
      ['an allocation', async (server) => (await server.allocate('order', 10)).from],
      ['a batch', async (server) => ((await server.allocateAll([{ tag: 'order', size: 10 }]))[0] as Allocation).from],
    ])('is noticed when %s was sent before a refresh and arrives after the restore', async (_, ask) => {
      await tags.create({ tag: 'order', step: 10 });
      expect(await ask(store)).toBe(1n);
      await store.listTags();
      const [record] = await fixture.database.query<{ generation: number }[]>(
        'SELECT generation FROM leaf_segment_server',
      );
      delayNextAllocation(fixture.database, async () => {
        await store.listTags();
        await execute('UPDATE leaf_alloc SET max_id = 1');
        await execute(`UPDATE leaf_segment_server SET generation = ${record!.generation}`);
      });
      expect(await ask(store)).toBeGreaterThan(GAP);
      expect(messages).toEqual([expect.stringContaining('a backup was restored')]);
    });

    it('is noticed when another server has moved the tags before the answer to an allocation arrives', async () => {
      await tags.create({ tag: 'order', step: 10 });
      expect(await first('order')).toBe(1n);
      const [record] = await fixture.database.query<{ generation: number }[]>(
        'SELECT generation FROM leaf_segment_server',
      );
      await tags.create({ tag: 'other', step: 10 });
      const other = newServer();
      await first('other', other);
      await execute('UPDATE leaf_alloc SET max_id = 1');
      await execute(`UPDATE leaf_segment_server SET generation = ${record!.generation}`);
      const move = async (): Promise<void> => {
        expect(await first('order', other)).toBeGreaterThan(GAP);
        await store.listTags();
      };
      delayNextAllocation(fixture.database, move, 'answer');
      expect(await first('order')).toBeGreaterThan(GAP);
      expect(messages).toEqual([expect.stringContaining('a backup was restored')]);
    });

    it('moves the tags by one more gap for each earlier move that the backup lacks', async () => {
      await tags.create({ tag: 'order', step: 10 });
      expect(await first('order')).toBe(1n);
      const [backup] = await fixture.database.query<{ generation: number }[]>(
        'SELECT generation FROM leaf_segment_server',
      );
      await moveAfterRestore(fixture.database);
      expect(await first('order')).toBe(11n + GAP);
      await store.listTags();
      await execute('UPDATE leaf_alloc SET max_id = 11');
      await execute(`UPDATE leaf_segment_server SET generation = ${backup!.generation}`);
      expect(await first('order')).toBeGreaterThanOrEqual(11n + 2n * GAP);
      expect(messages).toContainEqual(expect.stringContaining('20 times its step'));
    });

    it('is noticed when blocks of an interleaved tag are allocated', async () => {
      await tags.create({ tag: 'shared', step: 10, interleave: { of: 2, remainder: 0, block: 10 } });
      expect([await first('shared'), await first('shared')]).toEqual([1n, 21n]);
      await store.listTags();
      await execute('UPDATE leaf_alloc SET next_id = 11');
      await execute('UPDATE leaf_segment_server SET generation = 1');
      expect(await first('shared')).toBeGreaterThan(GAP);
      expect(messages).toEqual([expect.stringContaining('a backup was restored')]);
    });

    it('is noticed by a new server when tags were issued and the record of the database server is missing', async () => {
      await tags.create({ tag: 'order', step: 10 });
      await tags.create({ tag: 'unused', step: 10 });
      await first('order');
      await execute('DELETE FROM leaf_segment_server');
      const server = newServer();
      await server.listTags();
      expect([await first('order', server), await first('unused', server)]).toEqual([11n + GAP, 1n + GAP]);
      expect(messages).toEqual([expect.stringContaining('lacks the record')]);
    });

    it('is noticed by servers that refresh many times before the next allocation', async () => {
      await tags.create({ tag: 'order', step: 10 });
      const servers = [newServer(), newServer()];
      for (const server of servers) await server.allocate('order', 10);
      const refreshAll = async (): Promise<void> => {
        for (const server of servers) await server.listTags();
      };
      await refreshAll();
      await execute('UPDATE leaf_alloc SET max_id = 11');
      await execute('UPDATE leaf_segment_server SET generation = 2');
      for (let n = 0; n < 5; n++) await refreshAll();
      // The other server has these IDs.
      expect(await first('order', servers[0])).toBe(11n + GAP);
      expect(messages).toEqual([expect.stringContaining('a backup was restored')]);
    });
  });
}
