import {
  type Allocation,
  LeafError,
  MAX_RANGE_SIZE,
  type NewTag,
  periodRow,
  type SegmentStore,
  type TagStore,
} from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, SegmentIdGenerator, systemRandom } from '@leaf-ids/core/internal';
import { createSegmentStore, createTagStore, moveAfterRestore } from '@leaf-ids/persistence';
import { createGuard } from '../../../libs/persistence/src/database/create-store';
import { DIALECTS } from '../../../libs/persistence/src/dialects/dialects';
import { isUsable, readRows } from '../../../libs/persistence/src/stores/alloc-row';
import { TagHistory } from '../../../libs/persistence/src/stores/tag-history';
import { day } from './period.contract';
import type { DatabaseFixture } from './restore.contract';
import { clock } from './sql-stores';
import { REFUSED } from '../http/refusal';
import { until } from '../until';

const GAP = 10n * BigInt(MAX_RANGE_SIZE);
const LOST = expect.stringContaining('lost its history') as string;

/** Between the two statements that insert a row again, there is none. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof LeafError) || error.code !== 'LEAF_TAG_NOT_FOUND') throw error;
}

/** Contract of every database for rows that go back: the servers may have issued IDs that the row does not know. */
export function lostHistoryContract(name: string, open: () => Promise<DatabaseFixture>): void {
  describe(`${name}, a row that goes back`, () => {
    let fixture: DatabaseFixture;
    let tags: TagStore;
    let messages: string[];
    let seen: Set<string>;

    beforeEach(async () => {
      fixture = await open();
      messages = [];
      seen = new Set();
      tags = createTagStore(fixture.database);
    });
    afterEach(() => fixture.close());

    const execute = (sql: string): Promise<unknown> => fixture.database.query(sql);
    function newServer(gapSteps = 10): SegmentStore {
      return createSegmentStore(fixture.database, { gapSteps, onFailover: (text) => messages.push(text) });
    }
    /** Fails if an ID was issued before. */
    async function take(server: SegmentStore, tag: string, size: number): Promise<Allocation> {
      const allocation = await server.allocate(tag, size);
      for (let id = allocation.from; id <= allocation.to; id++) {
        if (seen.has(`${tag} ${id}`)) throw new Error(`${tag} ${id} was issued twice`);
        seen.add(`${tag} ${id}`);
      }
      return allocation;
    }
    async function insertAgain(columns: string, values: string): Promise<void> {
      await executeBeside("DELETE FROM leaf_alloc WHERE biz_tag = 'order'");
      await executeBeside(`INSERT INTO leaf_alloc (biz_tag, ${columns}) VALUES ('order', ${values})`);
    }
    /** While servers allocate: again after a deadlock. */
    async function executeBeside(sql: string): Promise<unknown> {
      return execute(sql).catch((error: unknown) => {
        if (!/deadlock/i.test(String(error))) throw error;
        return executeBeside(sql);
      });
    }

    it('given back while its limit is raised: it has lost nothing, and stays where it is', async () => {
      await tags.create({ tag: 'order', step: 10 });
      const server = newServer();
      const { access, target } = fixture.database;
      const dialect = DIALECTS[target.dialect].tags;
      const guard = createGuard(fixture.database, { gapSteps: 10, onFailover: (text) => messages.push(text) });
      await server.allocate('order', 10);
      const unused = await server.allocate('order', 5000);
      const [row] = await readRows((sql, parameters = []) => access.run(sql, [...parameters]), dialect, 'order');
      expect(await server.giveBack('order', unused)).toBe(true);
      if (row === undefined || !isUsable(row)) throw new Error('the row cannot be used');
      await new TagHistory(access, dialect, guard).extend('order', row, 10n);
      expect((await server.allocate('order', 10)).from).toBe(unused.from);
      expect(messages).toStrictEqual([]);
    });

    it('is not raised into what it has lost', async () => {
      await tags.create({ tag: 'order', step: 10 });
      const server = newServer();
      await take(server, 'order', 10);
      const limit = "SELECT issue_limit FROM leaf_alloc WHERE biz_tag = 'order'";
      const [before] = (await execute(limit)) as { issue_limit: number | string }[];
      // Enough for a higher limit.
      for (let n = 0; n < 300; n++) await take(server, 'order', 10);
      await execute(`UPDATE leaf_alloc SET max_id = 11, issue_limit = ${before?.issue_limit} WHERE biz_tag = 'order'`);
      await expect(tags.change('order', { maxId: 2500n })).rejects.toMatchObject({ code: 'LEAF_MAX_ID_BACKWARDS' });
      await tags.change('order', { step: 1000 });
      await take(newServer(), 'order', 1000);
      const { maxId } = (await tags.find('order'))!;
      await tags.change('order', { maxId: maxId + 1n });
      await take(server, 'order', 1000);
    });

    it.each([1, 6, 50])('inserted again at %d: no server repeats what another one has issued', async (maxId) => {
      await tags.create({ tag: 'order', step: 5 });
      const [a, b, c] = [newServer(), newServer(), newServer()];
      await take(b, 'order', 5);
      await take(a, 'order', 95);
      await insertAgain('max_id, step', `${maxId}, 5`);
      expect(await take(c, 'order', 10)).toMatchObject({ wentBack: true });
      for (const server of [b, a]) expect(await take(server, 'order', 10)).not.toHaveProperty('wentBack');
      expect(messages).toEqual([LOST]);
    });

    it('inserted again at once, with servers that all want the next range', async () => {
      await tags.create({ tag: 'order', step: 5 });
      const servers = Array.from({ length: 6 }, () => newServer());
      for (const server of servers) await take(server, 'order', 20);
      for (let round = 0; round < 3; round++) {
        const takes = Promise.all(servers.map((server) => take(server, 'order', 20).catch(unlessGone)));
        await insertAgain('max_id, step', '1, 5');
        await takes;
        await Promise.all(servers.map((server) => take(server, 'order', 20)));
      }
      expect(messages.length).toBeGreaterThanOrEqual(3);
    });

    it('continues above its last ID to the ID when Leaf has deleted it', async () => {
      await tags.create({ tag: 'order', step: 5 });
      await take(newServer(), 'order', 100);
      await tags.remove('order');
      await execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 5)");
      expect(await take(newServer(), 'order', 10)).toMatchObject({ from: 101n });
      await tags.remove('order');
      await tags.create({ tag: 'order', step: 5 });
      expect(await take(newServer(), 'order', 10)).toMatchObject({ from: 111n });
      expect(messages).toStrictEqual([]);
    });

    it('restored alone after Leaf has deleted it, by one ID', async () => {
      await tags.create({ tag: 'order', step: 5 });
      await take(newServer(), 'order', 100);
      const [backup] = await fixture.database.query<{ issue_limit: string }[]>('SELECT issue_limit FROM leaf_alloc');
      await tags.remove('order');
      await execute(
        `INSERT INTO leaf_alloc (biz_tag, max_id, step, issue_limit) VALUES ('order', 100, 5, ${backup!.issue_limit})`,
      );
      await take(newServer(), 'order', 10);
    });

    it('inserted again, deleted and created by Leaf: above what was issued before', async () => {
      await tags.create({ tag: 'order', step: 5 });
      await take(newServer(), 'order', 100);
      await insertAgain('max_id, step', '1, 5');
      await tags.remove('order');
      await tags.create({ tag: 'order', step: 5 });
      await take(newServer(), 'order', 10);
    });

    it('restored alone, and raised by a server that has had higher IDs from another database, has lost them', async () => {
      await tags.create({ tag: 'order', step: 5 });
      await take(newServer(), 'order', 50);
      const [backup] = await fixture.database.query<{ issue_limit: string }[]>('SELECT issue_limit FROM leaf_alloc');
      await take(newServer(), 'order', 50);
      await tags.remove('order');
      await tags.create({ tag: 'order', step: 5 });
      await take(newServer(), 'order', 500);
      await execute(`UPDATE leaf_alloc SET max_id = 51, issue_limit = ${backup!.issue_limit} WHERE biz_tag = 'order'`);
      const server = newServer();
      await server.raise('order', 200n);
      await take(server, 'order', 10);
      expect(messages).toEqual([LOST]);
    });

    it('restored alone, to long ago, is noticed by a server that has never had it', async () => {
      await tags.create({ tag: 'order', step: 5 });
      const a = newServer();
      await take(a, 'order', 5);
      const [backup] = await fixture.database.query<{ max_id: string; issue_limit: string }[]>(
        'SELECT max_id, issue_limit FROM leaf_alloc',
      );
      for (let n = 0; n < 600; n++) await take(a, 'order', 5);
      await execute(`UPDATE leaf_alloc SET max_id = ${backup!.max_id}, issue_limit = ${backup!.issue_limit}`);
      expect(await take(newServer(), 'order', 10)).toMatchObject({ wentBack: true });
      expect(messages).toEqual([LOST]);
    });

    it('restored alone, deleted and created by Leaf: above what was issued before', async () => {
      await tags.create({ tag: 'order', step: 5 });
      const a = newServer();
      await take(a, 'order', 5);
      const [backup] = await fixture.database.query<{ issue_limit: string }[]>('SELECT issue_limit FROM leaf_alloc');
      for (let n = 0; n < 600; n++) await take(a, 'order', 5);
      await execute(`UPDATE leaf_alloc SET max_id = 6, issue_limit = ${backup!.issue_limit}`);
      await tags.remove('order');
      await tags.create({ tag: 'order', step: 5 });
      await take(newServer(), 'order', 1000);
    });

    it('without its record moves forward by the gap', async () => {
      await tags.create({ tag: 'order', step: 5 });
      const a = newServer();
      await take(a, 'order', 5);
      await execute('DELETE FROM leaf_deleted_tag');
      await execute('UPDATE leaf_alloc SET max_id = 1, issue_limit = 6');
      expect((await take(newServer(), 'order', 10)).from).toBeGreaterThanOrEqual(1n + GAP);
    });

    it('moved by a failover to a copy from before its first use, and inserted again before the next: above what is lost', async () => {
      await tags.create({ tag: 'order', step: 5 });
      await execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('größe', 1, 5)");
      await moveAfterRestore(fixture.database);
      await insertAgain('max_id, step', '1, 5');
      expect((await take(newServer(), 'order', 10)).from).toBeGreaterThan(GAP);
      expect(messages).toEqual([LOST]);
    });

    it.each([
      [
        'inserted again',
        (): Promise<unknown> => execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 5)"),
      ],
      ['created again', (): Promise<unknown> => tags.create({ tag: 'order', step: 5 })],
    ])('%s after its record was lost: above what other servers have issued', async (_, again) => {
      await tags.create({ tag: 'order', step: 5 });
      const [a, b] = [newServer(), newServer()];
      const { to } = await take(a, 'order', 10);
      await take(b, 'order', 100);
      await execute('DELETE FROM leaf_alloc');
      await execute('DELETE FROM leaf_deleted_tag');
      // The first of the servers to miss the row records what it knows.
      await a.recordDeleted('order', to + 1n);
      await again();
      expect((await take(a, 'order', 200)).from).toBeGreaterThanOrEqual(to + GAP);
    });

    it('inserted again after a server looked for it in vain: above what other servers have issued', async () => {
      await tags.create({ tag: 'order', step: 5 });
      const [a, b] = [newServer(), newServer()];
      const { to } = await take(a, 'order', 10);
      await take(b, 'order', 100);
      await execute('DELETE FROM leaf_alloc');
      await execute('DELETE FROM leaf_deleted_tag');
      // Its row is gone since it was read.
      await newServer().recover('order', 1n);
      await a.recordDeleted('order', to + 1n);
      await execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 1, 5)");
      expect((await take(a, 'order', 200)).from).toBeGreaterThanOrEqual(to + GAP);
    });

    it('is a new tag, or one of other software, without a record', async () => {
      await execute("INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('order', 500, 5)");
      const a = newServer();
      expect(await take(a, 'order', 10)).toMatchObject({ from: 500n });
      // Other software raises max_id alone, beyond every limit.
      await execute("UPDATE leaf_alloc SET max_id = max_id + 5000000 WHERE biz_tag = 'order'");
      expect(await take(a, 'order', 10)).toMatchObject({ from: 5_000_510n });
      expect(messages).toStrictEqual([]);
    });

    it.each([10, 0])('with a max stays below it, gap steps %d', async (gapSteps) => {
      await tags.create({ tag: 'order', step: 5, max: 99_999n });
      const a = newServer(gapSteps);
      await take(a, 'order', 100);
      await insertAgain('max_id, step, last_id', '1, 5, 99999');
      const { from } = await take(newServer(gapSteps), 'order', 10);
      expect(from).toBeLessThan(10_000n);
      await insertAgain('max_id, step, last_id', '1, 5, 150');
      await expect(take(a, 'order', 1)).rejects.toEqual(REFUSED('LEAF_TAG_EXHAUSTED'));
      await tags.change('order', { max: 99_999n });
      await take(a, 'order', 10);
    });

    it('of a period continues above what was issued, though the period begins anew', async () => {
      const invoice: NewTag = { tag: 'invoice', step: 10, reset: 'daily', zone: 'UTC', max: 99_999n };
      const kind = await tags.create(invoice);
      const row = periodRow('invoice', day().name);
      const [a, b] = [newServer(), newServer()];
      await a.beginPeriod('invoice', kind, day(), 1n);
      await take(b, row, 10);
      await take(a, row, 300);
      for (const server of [b, newServer(0)]) {
        await execute("DELETE FROM leaf_alloc WHERE biz_tag LIKE 'invoice@%'");
        await server.beginPeriod('invoice', kind, day(), 1n);
        expect((await take(server, row, 10)).from).toBeLessThan(50_000n);
      }
    });

    it('of a period whose record was lost begins above what other servers have issued', async () => {
      const kind = await tags.create({ tag: 'invoice', step: 10, reset: 'daily', zone: 'UTC' });
      const row = periodRow('invoice', day().name);
      const [a, b] = [newServer(), newServer()];
      await a.beginPeriod('invoice', kind, day(), 1n);
      const { to } = await take(a, row, 10);
      await take(b, row, 100);
      await execute("DELETE FROM leaf_alloc WHERE biz_tag LIKE 'invoice@%'");
      await execute('DELETE FROM leaf_deleted_tag');
      await a.beginPeriod('invoice', kind, day(), to + 1n);
      expect((await take(a, row, 200)).from).toBeGreaterThanOrEqual(to + GAP);
    });

    it('of an interleaved tag continues above its blocks', async () => {
      const interleave = { of: 2, remainder: 1, block: 10 };
      await tags.create({ tag: 'order', step: 5, interleave });
      const [a, b] = [newServer(), newServer()];
      for (let n = 0; n < 300; n++) await take(n % 3 === 0 ? b : a, 'order', 1);
      await insertAgain('max_id, step, interleave_of, interleave_remainder, interleave_block', '11, 5, 2, 1, 10');
      expect(await take(newServer(), 'order', 1)).toMatchObject({ wentBack: true });
      for (const server of [a, b]) await take(server, 'order', 1);
      expect(messages).toEqual([LOST]);
    });

    it('by little is noticed by the server that issued more, which moves it for all', async () => {
      await tags.create({ tag: 'order', step: 5 });
      const [a, b] = [newServer(), newServer()];
      await take(b, 'order', 5);
      await take(a, 'order', 95);
      await a.recover('order', 101n);
      await a.recover('order', 101n);
      expect(messages).toStrictEqual([]);
      await execute('UPDATE leaf_alloc SET max_id = 6');
      await a.recover('order', 101n);
      await b.recover('order', 6n);
      expect((await take(b, 'order', 10)).from).toBeGreaterThanOrEqual(101n + GAP);
      expect(messages).toEqual([LOST]);
    });

    it('of a row that nobody can use stops its own tag alone', async () => {
      await tags.create({ tag: 'order', step: 5 });
      await tags.create({ tag: 'other', step: 5 });
      const requests = [
        { tag: 'order', size: 3 },
        { tag: 'other', size: 3 },
      ];
      const a = newServer();
      await a.allocateAll(requests);
      for (const value of ['last_id = 9223372036854775807', 'last_id = -9223372036854775807', 'last_id = 0']) {
        await execute(`UPDATE leaf_alloc SET ${value} WHERE biz_tag = 'order'`);
        const [bad, good] = await a.allocateAll(requests);
        expect(bad).toMatchObject({
          code: 'LEAF_TAG_ROW_INVALID',
          message: expect.stringContaining('last_id') as string,
        });
        expect(good).toMatchObject({ step: 5 });
      }
      await execute("UPDATE leaf_alloc SET last_id = NULL, max_id = 9223372036854775807 WHERE biz_tag = 'order'");
      expect(await a.allocateAll(requests)).toMatchObject([{ code: 'LEAF_TAG_EXHAUSTED' }, { step: 5 }]);
    });

    it('is served by generators of two servers without an ID twice', async () => {
      await tags.create({ tag: 'order', step: 5 });
      const events = { onLoadFailed: () => undefined, onRefreshFailed: () => undefined };
      const options = { ...DEFAULT_SEGMENT_OPTIONS, waitMs: 20_000, maxStep: 20 };
      const servers = [0, 0].map(() => new SegmentIdGenerator(newServer(), clock, systemRandom, options, events));
      const ids = new Set<bigint>();
      let issued = 0;
      const takeAll = (count: number): Promise<unknown> =>
        Promise.all(
          servers.map(async (server) => {
            for (let n = 0; n < count; n++, issued++) {
              ids.add(await until('an ID', () => server.next('order').catch(unlessGone)));
            }
          }),
        );
      await takeAll(60);
      await insertAgain('max_id, step', '6, 5');
      await takeAll(60);
      expect(ids.size).toBe(issued);
      expect(servers.reduce((sum, { totals }) => sum + totals.backwards, 0)).toBeGreaterThan(0);
      for (const server of servers) await server.close();
    });
  });
}
