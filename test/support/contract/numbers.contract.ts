import {
  type DocumentNumber,
  LeafError,
  type NewTag,
  type NumberAudit,
  Numbers,
  SegmentStore,
  TagStore,
} from '@leaf-ids/core';
import { SegmentIdGenerator, systemRandom, DEFAULT_SEGMENT_OPTIONS } from '@leaf-ids/core/internal';
import { createStores, createTagStore, moveAfterRestore, type NumberOptions } from '@leaf-ids/persistence';
import type { DatabaseFixture } from './restore.contract';
import { clock } from './sql-stores';

const INVOICE: NewTag = { tag: 'invoice', step: 1, order: 'gapless' };
const MONTHLY: NewTag = { ...INVOICE, reset: 'monthly', zone: 'Europe/Berlin', pattern: 'INV-{YYYY}-{MM}-{seq:4}' };
const NOW = new Date();
/** In the month before. */
const EARLIER = new Date(NOW.getTime() - 32 * 86_400_000);

/** Contract of the numbers without gaps of every database. */
export function numbersContract(name: string, open: () => Promise<DatabaseFixture>): void {
  describe(`${name}, numbers without gaps`, () => {
    let fixture: DatabaseFixture;
    let tags: TagStore;
    let segments: SegmentStore;
    let numbers: Numbers;
    const failovers: string[] = [];

    beforeEach(async () => {
      fixture = await open();
      tags = createTagStore(fixture.database);
      failovers.length = 0;
      ({ segments, numbers } = newServer());
    });
    afterEach(() => fixture.close());

    function newServer(options: NumberOptions = {}) {
      const failover = { gapSteps: 10, onFailover: (text: string) => failovers.push(text) };
      const stores = createStores(fixture.database, failover, options, clock);
      return {
        segments: stores.segments,
        store: stores.numbers,
        numbers: new Numbers(stores.numbers, clock, systemRandom, { waitMs: 20_000 }),
      };
    }

    const execute = (sql: string): Promise<unknown> => fixture.database.query(sql);

    async function take(keys: string | readonly string[], from = numbers, at?: Date): Promise<number[]> {
      const answers = await from.issue('invoice', typeof keys === 'string' ? [keys] : keys, 'test', at);
      return answers.map(({ number }) => Number(number.number));
    }

    /** What the tables have, whatever the answers were. */
    async function expectWhole(last: number): Promise<NumberAudit> {
      const audit = await numbers.audit('invoice');
      expect(audit).toMatchObject({ fault: undefined, contiguous: true, chronological: true, intact: true });
      expect(audit.last ?? 0n).toBe(BigInt(last));
      return audit;
    }

    it('gives each document the next number, and the same one again', async () => {
      await tags.create(INVOICE);
      expect(await take('a')).toEqual([1]);
      expect(await take(['b', 'a', 'c', 'b'])).toEqual([2, 1, 3, 2]);
      expect(await take('a', newServer().numbers)).toEqual([1]);
      expect(await numbers.issue('invoice', ['a', 'd'], 'test')).toMatchObject([{ isNew: false }, { isNew: true }]);
      await expectWhole(4);
    });

    it('begins at the number that the tag begins at, and ends at its max, all of a call or none', async () => {
      await tags.create({ ...INVOICE, maxId: 41n, max: 43n });
      expect(await take('a')).toEqual([41]);
      await expect(take(['b', 'c', 'd'])).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
      expect(await take(['b', 'c'])).toEqual([42, 43]);
      await tags.change('invoice', { max: 44n });
      expect(await take('d')).toEqual([44]);
      await expectWhole(44);
    });

    it('leaves no gap when servers and documents compete', async () => {
      await tags.create(INVOICE);
      const servers = [numbers, newServer().numbers, newServer().numbers];
      const asked = Array.from({ length: 120 }, (_, index) => {
        const keys = Array.from({ length: 1 + (index % 3) }, (_, key) => `document ${(index * 7 + key) % 90}`);
        return take(keys, servers[index % servers.length]).then((got) => ({ keys, got }));
      });
      const byKey = new Map<string, number>();
      for (const { keys, got } of await Promise.all(asked)) {
        keys.forEach((key, index) => {
          expect(byKey.get(key) ?? got[index]).toBe(got[index]);
          byKey.set(key, got[index]!);
        });
      }
      expect([...byKey.values()].sort((a, b) => a - b)).toEqual(Array.from(byKey, (_, index) => index + 1));
      await expectWhole(byKey.size);
    });

    it('keeps the period in which a document got its number', async () => {
      await tags.create(MONTHLY);
      const [answer] = await numbers.issue('invoice', ['a'], 'test', NOW);
      const { period } = answer!.number;
      expect(numbers.jsonOf('invoice', answer!.number)).toMatchObject({ text: `INV-${period}-0001`, period });
      expect(await take('b', numbers, EARLIER)).toEqual([1]);
      expect(await take('b', numbers)).toEqual([1]);
      await expect(take('a', numbers, EARLIER)).rejects.toMatchObject({
        code: 'LEAF_NUMBER_EXISTS',
        message: expect.stringContaining(`number 1 in ${period}`) as string,
      });
      // Together with one that is refused.
      expect(await Promise.allSettled([take('a', numbers, EARLIER), take('c', numbers, EARLIER)])).toMatchObject([
        { status: 'rejected' },
        { value: [2] },
      ]);
      expect((await numbers.list('invoice', { limit: 10 })).map(({ key }) => key)).toEqual(['b', 'c', 'a']);
    });

    it('lists numbers by period and number, page by page', async () => {
      await tags.create(MONTHLY);
      await take(Array.from({ length: 120 }, (_, index) => `now ${index}`));
      await take(
        Array.from({ length: 12 }, (_, index) => `earlier ${index}`),
        numbers,
        EARLIER,
      );
      const keys: string[] = [];
      for (let after: DocumentNumber | undefined; ;) {
        const page = await numbers.list('invoice', { after, limit: 25 });
        keys.push(...page.map(({ key }) => key));
        after = page.at(-1);
        if (after === undefined) break;
      }
      expect(keys).toEqual([
        ...Array.from({ length: 12 }, (_, index) => `earlier ${index}`),
        ...Array.from({ length: 120 }, (_, index) => `now ${index}`),
      ]);
    });

    it('settles a number once, and says why it cannot be settled otherwise', async () => {
      await tags.create(INVOICE);
      await take(['a', 'b']);
      expect(await numbers.confirm('invoice', 'a', 'till')).toMatchObject({
        isNew: true,
        number: { state: 'confirmed' },
      });
      expect(await numbers.confirm('invoice', 'a', 'other')).toMatchObject({
        isNew: false,
        number: { settledBy: 'till' },
      });
      await expect(numbers.void('invoice', 'a', 'till', 'mistake')).rejects.toMatchObject({
        code: 'LEAF_NUMBER_SETTLED',
      });
      await numbers.void('invoice', 'b', 'till', 'printer broke');
      expect(await numbers.void('invoice', 'b', 'till', 'again')).toMatchObject({
        number: { reason: 'printer broke' },
      });
      await expect(numbers.confirm('invoice', 'b', 'till')).rejects.toMatchObject({ code: 'LEAF_NUMBER_SETTLED' });
      await expect(numbers.confirm('invoice', 'c', 'till')).rejects.toMatchObject({ code: 'LEAF_NUMBER_NOT_FOUND' });
      expect(await take(['b', 'c'])).toEqual([2, 3]);
      expect(await numbers.watch()).toMatchObject([{ tag: 'invoice', count: 1 }]);
      expect((await expectWhole(3)).counts).toEqual({ issued: 1, confirmed: 1, void: 1, reissued: 0 });
    });

    it('gives void numbers out again if the tag says so, the lowest first', async () => {
      await tags.create({ ...INVOICE, reissue: true });
      await take(['a', 'b', 'c']);
      for (const key of ['c', 'a']) await numbers.void('invoice', key, 'till', 'not needed');
      expect(await take(['d', 'e', 'f'])).toEqual([1, 3, 4]);
      expect(await take('a')).toEqual([1]);
      await numbers.void('invoice', 'd', 'till', 'not needed either');
      expect(await take('g')).toEqual([1]);
      await take(Array.from({ length: 100 }, (_, index) => `more ${index}`));
      for (const key of ['more 95', 'more 5', 'more 4']) await numbers.void('invoice', key, 'till', 'not needed');
      expect(await take(['h', 'i', 'j', 'k'])).toEqual([9, 10, 100, 105]);
      expect(await numbers.find('invoice', 'a')).toMatchObject({ state: 'reissued', reason: 'not needed' });
      expect(await numbers.audit('invoice')).toMatchObject({ intact: true, contiguous: true, fault: undefined });
    });

    it('takes no number when the transaction fails half way', async () => {
      await tags.create(INVOICE);
      await take('a');
      await execute('ALTER TABLE leaf_number_journal RENAME TO gone');
      const hasty = new Numbers(
        createStores(fixture.database, { gapSteps: 10, onFailover: () => undefined }, {}, clock).numbers,
        clock,
        systemRandom,
        { waitMs: 50 },
      );
      await expect(hasty.issue('invoice', ['b'], 'test')).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
      // What it still sends would be carried out once the table is back.
      await hasty.close();
      await execute('ALTER TABLE gone RENAME TO leaf_number_journal');
      expect(await take('c')).toEqual([2]);
      await expectWhole(2);
    });

    describe('an audit', () => {
      beforeEach(async () => {
        await tags.create(INVOICE);
        await take(Array.from({ length: 1200 }, (_, index) => `k${index + 1}`).slice(0, 1000));
        await take(Array.from({ length: 200 }, (_, index) => `k${index + 1001}`));
        await numbers.void('invoice', 'k1100', 'test', 'torn');
      });

      it.each([
        ['a row that is gone', "DELETE FROM leaf_number WHERE doc_key = 'k1044'", 1044n],
        ['a row with another document', "UPDATE leaf_number SET doc_key = 'x' WHERE doc_key = 'k7'", 7n],
        ['a row with another state', "UPDATE leaf_number SET state = 'confirmed' WHERE number = 1100", 1100n],
        ['a row with another reason', "UPDATE leaf_number SET reason = 'lost' WHERE number = 1100", 1100n],
        [
          'a row that was put in',
          `INSERT INTO leaf_number (biz_tag, doc_key, period, number, turn, state, issued_at, issued_by)
           VALUES ('invoice', 'y', '', 1201, 0, 'issued', 1, 'me')`,
          1201n,
        ],
        ['a changed line', "UPDATE leaf_number_journal SET by_name = 'me' WHERE number = 1003", 1003n],
        ['a line that is gone', 'DELETE FROM leaf_number_journal WHERE number = 55', 55n],
      ])('names %s', async (_, tamper, number) => {
        await expectWhole(1200);
        await execute(tamper);
        const { fault, intact } = await numbers.audit('invoice');
        expect({ intact, number: fault?.number }).toEqual({ intact: false, number });
      });

      it('reads numbers again until the first fault is certain, not all that differ', async () => {
        await execute('DELETE FROM leaf_number WHERE number <= 600');
        const server = newServer();
        const reads = jest.spyOn(server.store, 'rowsOf');
        const { fault, missing } = await server.numbers.audit('invoice');
        expect({ number: fault?.number, missing }).toEqual({ number: 1n, missing: [{ from: 1n, to: 600n }] });
        expect(reads.mock.calls.length).toBeLessThan(20);
      });

      it('notices that the newest lines are gone, and their rows', async () => {
        await execute('DELETE FROM leaf_number_journal WHERE number = 1200');
        await execute('DELETE FROM leaf_number WHERE number = 1200');
        const { intact, missing } = await numbers.audit('invoice');
        expect({ intact, missing }).toEqual({ intact: false, missing: [{ from: 1200n, to: 1200n }] });
      });
    });

    it('seals the journal with a key, which proves it to those who have the key', async () => {
      await tags.create(INVOICE);
      await take('a');
      const keyed = newServer({ key: 'a secret of the auditor' }).numbers;
      await take(['b', 'c'], keyed);
      expect(await keyed.audit('invoice')).toMatchObject({ intact: true, unverified: 1, lines: 3 });
      expect(await numbers.audit('invoice')).toMatchObject({ intact: true, unverified: 2 });
      await expect(take('d')).rejects.toMatchObject({
        code: 'LEAF_TAG_ROW_INVALID',
        message: expect.stringContaining('numbers.key') as string,
      });
      await expect(numbers.void('invoice', 'c', 'test', 'none')).rejects.toMatchObject({
        code: 'LEAF_TAG_ROW_INVALID',
      });
      // Nothing of it was done.
      expect(await keyed.audit('invoice')).toMatchObject({ intact: true, lines: 3, last: 3n });
      const other = newServer({ key: 'another, wrong secret' }).numbers;
      expect(await other.audit('invoice')).toMatchObject({ intact: false, fault: { number: 2n } });
    });

    describe('after a failover or a restore', () => {
      const lost = { code: 'LEAF_NUMBERS_HISTORY_LOST' };

      beforeEach(async () => {
        await tags.create(INVOICE);
        await take(['a', 'b']);
      });

      it('refuses until it is told where to continue, and records what it skips', async () => {
        await moveAfterRestore(fixture.database);
        const other = newServer().numbers;
        for (const server of [numbers, other]) await expect(take('c', server)).rejects.toMatchObject(lost);
        await expect(take(['a', 'd'])).rejects.toMatchObject(lost);
        await expect(numbers.confirm('invoice', 'a', 'till')).rejects.toMatchObject(lost);
        // What is on record stays true.
        expect(await Promise.allSettled([take('a'), take('e')])).toMatchObject([{ value: [1] }, { reason: lost }]);
        const where = { by: 'admin', reason: 'the primary lost its disk' };
        await expect(numbers.continueAfter('invoice', { ...where, lastNumber: 1n })).rejects.toMatchObject({
          code: 'LEAF_MAX_ID_BACKWARDS',
        });
        await expect(numbers.continueAfter('invoice', { ...where, lastNumber: 10n ** 9n })).rejects.toMatchObject({
          code: 'LEAF_BODY_INVALID',
        });
        expect(await numbers.continueAfter('invoice', { ...where, lastNumber: 4n })).toBe(2);
        expect(await take('c', other)).toEqual([5]);
        expect(await take(['a', 'd'])).toEqual([1, 6]);
        expect(await numbers.list('invoice', { state: 'void', limit: 9 })).toMatchObject([
          { number: 3n, settledBy: 'admin', reason: 'the primary lost its disk' },
          { number: 4n },
        ]);
        await expectWhole(6);
      });

      it('goes on without a question if the database loses nothing', async () => {
        await execute("UPDATE leaf_segment_server SET server = 'the former primary'");
        await expect(take('c')).rejects.toMatchObject(lost);
        expect(failovers).toHaveLength(1);
        const synced = newServer({ sync: true }).numbers;
        expect(await take('c', synced)).toEqual([3]);
        expect(await take('d')).toEqual([4]);
        // A backup may lack numbers all the same.
        await moveAfterRestore(fixture.database);
        await expect(take('e', synced)).rejects.toMatchObject(lost);
      });

      it('serves a tag that was created since', async () => {
        await moveAfterRestore(fixture.database);
        await tags.create({ ...INVOICE, tag: 'receipt' });
        await expect(numbers.issue('receipt', ['a'], 'test')).resolves.toMatchObject([{ number: { number: 1n } }]);
      });

      it('does not give numbers out again up to there, which may have been given again', async () => {
        await tags.create({ ...INVOICE, tag: 'receipt', reissue: true });
        await numbers.issue('receipt', ['a', 'b'], 'test');
        await numbers.void('receipt', 'a', 'test', 'cancelled');
        expect(await numbers.continueAfter('receipt', { lastNumber: 3n, by: 'admin', reason: 'restored' })).toBe(1);
        // Open so far; in what was lost it may have become void.
        await numbers.void('receipt', 'b', 'test', 'cancelled');
        await expect(numbers.issue('receipt', ['c'], 'test')).resolves.toMatchObject([{ number: { number: 4n } }]);
        // Those that are issued later are given again.
        await numbers.void('receipt', 'c', 'test', 'cancelled');
        await expect(numbers.issue('receipt', ['d'], 'test')).resolves.toMatchObject([{ number: { number: 4n } }]);
        expect(await numbers.audit('receipt')).toMatchObject({ intact: true, counts: { void: 3, reissued: 1 } });
        await numbers.continueAfter('receipt', { lastNumber: 4n, by: 'admin', reason: 'restored' });
        await numbers.void('receipt', 'd', 'test', 'cancelled');
        await expect(numbers.issue('receipt', ['e'], 'test')).resolves.toMatchObject([{ number: { number: 5n } }]);
      });

      it('is noticed by all when one server has seen more', async () => {
        const backup = "next_number = 2, position = 1, hash = 'old'";
        await execute(`UPDATE leaf_number_head SET ${backup} WHERE biz_tag = 'invoice'`);
        await execute('DELETE FROM leaf_number WHERE number = 2');
        await execute('DELETE FROM leaf_number_journal WHERE number = 2');
        await expect(take('c')).rejects.toMatchObject(lost);
        const { numbers: synced } = newServer({ sync: true });
        for (const server of [newServer().numbers, synced]) await expect(take('c', server)).rejects.toMatchObject(lost);
      });

      it('stays noticed, whatever else is asked at the same time', async () => {
        await tags.create({ ...MONTHLY, tag: 'receipt' });
        const issue = (key: string, from: Numbers, at?: Date): Promise<unknown> =>
          from.issue('receipt', [key], 'test', at);
        await Promise.all([issue('a', numbers), issue('b', numbers, EARLIER)]);
        await issue('c', numbers, EARLIER);
        // A copy from before: both periods may lack numbers.
        await execute(
          "UPDATE leaf_number_head SET next_number = 2, position = 1 WHERE biz_tag = 'receipt' AND period <> ''",
        );
        await execute("DELETE FROM leaf_number WHERE doc_key = 'c'");
        await execute("DELETE FROM leaf_number_journal WHERE doc_key = 'c'");
        const [earlier, current] = await Promise.allSettled([issue('d', numbers, EARLIER), issue('e', numbers)]);
        expect([earlier, current]).toMatchObject([{ reason: lost }, { reason: lost }]);
        await expect(issue('e', newServer().numbers)).rejects.toMatchObject(lost);
      });

      it('stays noticed when all that is known of the ends is gone', async () => {
        await execute('DELETE FROM leaf_number_head');
        await execute('DELETE FROM leaf_number');
        await execute('DELETE FROM leaf_number_journal');
        for (const server of [numbers, newServer().numbers])
          await expect(take('c', server)).rejects.toMatchObject(lost);
        await numbers.continueAfter('invoice', { lastNumber: 2n, by: 'admin', reason: 'restored' });
        expect(await take('c', newServer().numbers)).toEqual([3]);
      });

      it('is over for all servers once it is said where to continue', async () => {
        const servers = [numbers, newServer().numbers, newServer().numbers];
        for (const server of servers) await take('b', server);
        await numbers.confirm('invoice', 'b', 'till');
        for (const [index, server] of servers.entries()) await take(`seen by ${index}`, server);
        await execute(
          "UPDATE leaf_number_head SET next_number = 3, position = 2, hash = (SELECT hash FROM leaf_number_journal WHERE position = 2) WHERE biz_tag = 'invoice'",
        );
        await execute('DELETE FROM leaf_number WHERE number > 2');
        await execute('DELETE FROM leaf_number_journal WHERE position > 2');
        await expect(take('c')).rejects.toMatchObject(lost);
        await numbers.continueAfter('invoice', { lastNumber: 5n, by: 'admin', reason: 'restored' });
        for (const [index, server] of servers.entries())
          expect(await take(`next ${index}`, server)).toEqual([6 + index]);
      });

      it('is noticed when the copy is from before a continuation', async () => {
        await numbers.continueAfter('invoice', { lastNumber: 2n, by: 'admin', reason: 'nothing was lost' });
        expect(await take('c')).toEqual([3]);
        await execute(
          "UPDATE leaf_number_head SET next_number = 3, position = 2, continued = 0, hash = (SELECT hash FROM leaf_number_journal WHERE position = 2) WHERE biz_tag = 'invoice'",
        );
        await execute('DELETE FROM leaf_number WHERE number > 2');
        await execute('DELETE FROM leaf_number_journal WHERE position > 2');
        for (const server of [numbers, newServer().numbers])
          await expect(take('d', server)).rejects.toMatchObject(lost);
      });

      it('is noticed in periods after a loss of long ago', async () => {
        await tags.create({ ...MONTHLY, tag: 'receipt' });
        await moveAfterRestore(fixture.database);
        await execute("UPDATE leaf_number_head SET epoch = -1000 WHERE biz_tag = 'receipt'");
        await execute("UPDATE leaf_segment_server SET update_time = '2001-01-01 00:00:00'");
        await expect(numbers.issue('receipt', ['a'], 'test')).resolves.toMatchObject([{ number: { number: 1n } }]);
        // The replica that takes over lacks the period.
        await execute("DELETE FROM leaf_number_head WHERE biz_tag = 'receipt' AND period <> ''");
        await execute("DELETE FROM leaf_number WHERE biz_tag = 'receipt'");
        await execute("DELETE FROM leaf_number_journal WHERE biz_tag = 'receipt'");
        await execute("UPDATE leaf_segment_server SET server = 'the former primary'");
        await expect(newServer().numbers.issue('receipt', ['b'], 'test')).rejects.toMatchObject(lost);
      });

      it('is noticed by a fresh server when only the end of the numbers went back', async () => {
        await execute("UPDATE leaf_number_head SET next_number = 2 WHERE biz_tag = 'invoice'");
        await expect(take('c', newServer().numbers)).rejects.toMatchObject(lost);
        await newServer().numbers.continueAfter('invoice', { lastNumber: 2n, by: 'admin', reason: 'restored' });
        expect(await take('c')).toEqual([3]);
      });
    });

    it('asks for each period that may have been in use, and for no later one', async () => {
      await tags.create(MONTHLY);
      await take('a');
      await execute("UPDATE leaf_segment_server SET server = 'the former primary'");
      await expect(take('b')).rejects.toMatchObject({ code: 'LEAF_NUMBERS_HISTORY_LOST' });
      await expect(take('b', numbers, EARLIER)).rejects.toMatchObject({ code: 'LEAF_NUMBERS_HISTORY_LOST' });
      await numbers.continueAfter('invoice', { lastNumber: 1n, by: 'admin', reason: 'nothing was lost' });
      expect(await take('b')).toEqual([2]);
      await expect(take('c', numbers, EARLIER)).rejects.toMatchObject({ code: 'LEAF_NUMBERS_HISTORY_LOST' });
      // A failover of long ago.
      await execute("UPDATE leaf_segment_server SET update_time = '2001-01-01 00:00:00'");
      expect(await take('c', numbers, EARLIER)).toEqual([1]);
    });

    it('serves no plain IDs, whatever asks for them', async () => {
      await tags.create(MONTHLY);
      const events = { onLoadFailed: () => undefined, onRefreshFailed: () => undefined };
      const generator = new SegmentIdGenerator(segments, clock, systemRandom, DEFAULT_SEGMENT_OPTIONS, events);
      const refused = { code: 'LEAF_TAG_GAPLESS', message: expect.stringContaining('PUT /api/numbers/') as string };
      await expect(generator.next('invoice')).rejects.toMatchObject(refused);
      await expect(generator.takeRanges('invoice', 5)).rejects.toMatchObject(refused);
      await expect(generator.takeInPeriod('invoice', 1)).rejects.toMatchObject(refused);
      await generator.close();
      await expect(segments.allocate('invoice', 1)).rejects.toBeInstanceOf(LeafError);
      await tags.create({ ...INVOICE, tag: 'plain' });
      await expect(segments.allocate('plain', 1)).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
      expect(await segments.giveBack('plain', { from: 1n, to: 5n })).toBe(false);
      await expect(numbers.issue('other', ['a'], 'test')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
      await tags.create({ tag: 'other', step: 1 });
      await expect(numbers.issue('other', ['a'], 'test')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_GAPLESS' });
    });

    it('keeps a tag with numbers, and its settings', async () => {
      await tags.create(INVOICE);
      await tags.remove('invoice');
      expect(await tags.create(MONTHLY)).toMatchObject({ order: 'gapless', pattern: MONTHLY.pattern, maxId: 1n });
      await take('a');
      await expect(tags.remove('invoice')).rejects.toMatchObject({ code: 'LEAF_TAG_GAPLESS' });
      await expect(tags.change('invoice', { maxId: 9n })).rejects.toMatchObject({ code: 'LEAF_BODY_INVALID' });
      expect((await tags.change('invoice', { description: 'invoices' })).after).toMatchObject({ maxId: 1n });
      expect(await take('b')).toEqual([2]);
      await tags.create({ tag: 'used', step: 1 });
      await segments.allocate('used', 1);
      await tags.remove('used');
      await expect(tags.create({ ...INVOICE, tag: 'used' })).rejects.toMatchObject({ code: 'LEAF_TAG_EXISTS' });
    });

    it('follows a tag that is deleted and created again with other settings', async () => {
      const { numbers: other } = newServer();
      await tags.create({ ...INVOICE, pattern: 'A{seq}' });
      await expect(other.confirm('invoice', 'a', 'test')).rejects.toMatchObject({ code: 'LEAF_NUMBER_NOT_FOUND' });
      await tags.remove('invoice');
      await tags.create(MONTHLY);
      await expect(take('a', other)).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
      const [answer] = await other.issue('invoice', ['a'], 'test');
      expect(other.jsonOf('invoice', answer!.number).text).toMatch(/^INV-\d{4}-\d\d-0001$/);
      await execute("UPDATE leaf_alloc SET pattern = '{no}' WHERE biz_tag = 'invoice'");
      await expect(take('b', newServer().numbers)).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID' });
    });

    it('keeps keys of any letters apart', async () => {
      await tags.create(INVOICE);
      const keys = [
        'é',
        'e\u0301',
        'E',
        'e',
        'Straße',
        'STRASSE',
        '発票 7',
        '🧾',
        `${'x'.repeat(127)}🧾`,
        "' OR 1=1 --",
        '%_',
      ];
      expect(await take(keys)).toEqual(keys.map((_, index) => index + 1));
      expect(await take([...keys].reverse())).toEqual(keys.map((_, index) => keys.length - index));
      for (const key of ['', ' a', 'a ', 'a\n', 'a\u0000', '\ud800', '~a', '..', 'x'.repeat(129), 'a\u200b']) {
        await expect(take(key)).rejects.toMatchObject({ code: 'LEAF_REQUEST_INVALID' });
      }
    });
  });
}
