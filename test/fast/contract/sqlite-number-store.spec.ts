import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DocumentNumber, type NewTag, Numbers } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { periodOf, systemRandom } from '@leaf-ids/core/internal';
import { createStores, createTagStore, type NumberOptions } from '@leaf-ids/persistence';
import { clock, databaseFixture } from '../../support/contract/sql-stores';
import type { DatabaseFixture } from '../../support/contract/restore.contract';

const INVOICE: NewTag = { tag: 'invoice', step: 1, order: 'gapless' };
const LOST = { code: 'LEAF_NUMBERS_HISTORY_LOST' };

describe('the numbers of a database', () => {
  let fixture: DatabaseFixture;
  let wall: FakeClock;

  beforeEach(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'leaf-numbers-'));
    const url = `sqlite:${join(directory, 'leaf.sqlite')}`;
    fixture = await databaseFixture(url, () => rm(directory, { recursive: true }));
    wall = new FakeClock(Date.UTC(2026, 10, 22, 10));
  });
  afterEach(() => fixture.close());

  /** A server whose numbers have the times of `wall`. */
  function server(options: NumberOptions = {}) {
    const { numbers: store } = createStores(
      fixture.database,
      { gapSteps: 10, onFailover: () => undefined },
      options,
      wall,
    );
    return { store, numbers: new Numbers(store, clock, systemRandom, { waitMs: 5000 }) };
  }

  const create = (tag: NewTag): Promise<unknown> => createTagStore(fixture.database).create(tag);
  const execute = (sql: string): Promise<unknown> => fixture.database.query(sql);

  it('keep who asked, who settled, why and when', async () => {
    await create(INVOICE);
    const { numbers, store } = server();
    await numbers.issue('invoice', ['a', 'b', 'c'], 'shop');
    wall.step(1000);
    await numbers.confirm('invoice', 'b', 'till');
    wall.step(1000);
    await numbers.void('invoice', 'c', 'clerk', 'torn');
    const issuedAt = wall.now() - 2000;
    const common = { period: '', turn: 0, issuedAt, issuedBy: 'shop' };
    const open = { settledAt: undefined, settledBy: undefined, reason: undefined };
    const rows = [
      { ...common, ...open, key: 'a', number: 1n, state: 'issued' },
      { ...common, ...open, key: 'b', number: 2n, state: 'confirmed', settledAt: issuedAt + 1000, settledBy: 'till' },
      {
        ...common,
        key: 'c',
        number: 3n,
        state: 'void',
        settledAt: issuedAt + 2000,
        settledBy: 'clerk',
        reason: 'torn',
      },
    ];
    expect(await numbers.list('invoice', { limit: 9 })).toEqual(rows);
    expect(await store.rowsOf('invoice', '', 2n, 3n, Infinity)).toEqual(rows.slice(1));
    expect(await store.rowsOf('invoice', '', 1n, 3n, 1)).toEqual(rows.slice(0, 1));
    expect(await numbers.find('invoice', 'b')).toEqual(rows[1]);
    expect(await store.journal('invoice', '', 2, 2)).toMatchObject([
      { position: 3, event: 'issued', number: 3n, key: 'c', at: issuedAt, by: 'shop', reason: undefined },
      { position: 4, event: 'confirmed', number: 2n, turn: 0, key: 'b', at: issuedAt + 1000, by: 'till', period: '' },
    ]);
    expect(await store.linesOf('invoice', '', 3n, 3n)).toMatchObject([
      { position: 3 },
      { position: 5, event: 'void', reason: 'torn', hash: (await store.headOf('invoice', ''))!.hash },
    ]);
    expect(await store.headOf('invoice', '')).toMatchObject({ next: 4n, position: 5, issuedAt, continued: 0 });
    expect(await store.headOf('invoice', '2026')).toBeUndefined();
    expect(await numbers.watch()).toEqual([{ tag: 'invoice', count: 1, oldest: issuedAt, lines: 5 }]);
    expect(numbers.open).toEqual(await numbers.watch());
  });

  it('are listed by period, number and turn, one on each page, with or without filters', async () => {
    await create({ ...INVOICE, reset: 'yearly', zone: 'UTC', reissue: true });
    const { numbers } = server();
    const earlier = new Date(Date.now() - 366 * 86_400_000);
    await numbers.issue('invoice', ['b', 'c'], 'shop');
    await numbers.issue('invoice', ['a'], 'shop', earlier);
    await numbers.void('invoice', 'b', 'shop', 'torn');
    await numbers.issue('invoice', ['d'], 'shop');
    const pages = async (filter: object): Promise<string[]> => {
      const keys: string[] = [];
      for (let after: DocumentNumber | undefined; ;) {
        const [next, ...more] = await numbers.list('invoice', { ...filter, after, limit: 1 });
        expect(more).toStrictEqual([]);
        if (next === undefined) return keys;
        keys.push(next.key);
        after = next;
      }
    };
    const period = String(new Date().getUTCFullYear());
    expect(await pages({})).toEqual(['a', 'b', 'd', 'c']);
    expect(await pages({ period })).toEqual(['b', 'd', 'c']);
    expect(await pages({ state: 'issued' })).toEqual(['a', 'd', 'c']);
    expect(await pages({ state: 'reissued', period })).toEqual(['b']);
    expect(await pages({ state: 'confirmed' })).toStrictEqual([]);
  });

  it('of one tag, and of one period, are none of another', async () => {
    for (const tag of ['invoice', 'receipt']) await create({ ...INVOICE, tag });
    const { numbers } = server();
    for (const tag of ['invoice', 'receipt']) await numbers.issue(tag, ['a', 'b'], 'shop');
    await numbers.void('receipt', 'a', 'shop', 'torn');
    expect(await numbers.find('invoice', 'a')).toMatchObject({ state: 'issued' });
    expect(await numbers.watch()).toMatchObject([
      { tag: 'invoice', count: 2 },
      { tag: 'receipt', count: 1 },
    ]);
  });

  it('are settled in one transaction, each in its own way', async () => {
    await create(INVOICE);
    const { numbers } = server();
    await numbers.issue('invoice', ['a', 'b', 'c', 'd'], 'shop');
    await Promise.all([
      numbers.confirm('invoice', 'a', 'till'),
      numbers.confirm('invoice', 'b', 'clerk'),
      numbers.void('invoice', 'c', 'till', 'torn'),
      numbers.void('invoice', 'd', 'till', 'lost'),
    ]);
    expect((await numbers.list('invoice', { limit: 9 })).map((one) => [one.state, one.settledBy, one.reason])).toEqual([
      ['confirmed', 'till', undefined],
      ['confirmed', 'clerk', undefined],
      ['void', 'till', 'torn'],
      ['void', 'till', 'lost'],
    ]);
    expect(await numbers.audit('invoice')).toMatchObject({ intact: true, lines: 8 });
  });

  it('stop when rows are there that the end of the numbers lacks', async () => {
    await create(INVOICE);
    const { numbers } = server();
    await numbers.issue('invoice', ['a', 'b'], 'shop');
    await execute('UPDATE leaf_number_head SET next_number = 2, position = 1');
    await expect(server().numbers.issue('invoice', ['c'], 'shop')).rejects.toMatchObject(LOST);
    expect(await numbers.list('invoice', { limit: 9 })).toHaveLength(2);
  });

  it('go on above the highest row and line, and no date goes back', async () => {
    await create(INVOICE);
    const { numbers } = server();
    await numbers.issue('invoice', ['a', 'b', 'c'], 'shop');
    const issuedAt = wall.now();
    await execute('UPDATE leaf_number_head SET next_number = 1, position = 0, issued_at = 0');
    await execute('DELETE FROM leaf_number WHERE number = 3');
    const { numbers: next } = server();
    const where = { by: 'admin', reason: 'restored' };
    await expect(next.continueAfter('invoice', { ...where, lastNumber: 2n })).rejects.toMatchObject({
      code: 'LEAF_MAX_ID_BACKWARDS',
    });
    wall.step(-3_600_000);
    expect(await next.continueAfter('invoice', { ...where, lastNumber: 3n })).toBe(0);
    const [answer] = await next.issue('invoice', ['d'], 'shop');
    expect(answer!.number).toMatchObject({ number: 4n, issuedAt });
  });

  it('are asked for when a promoted copy lacks all that is known of them', async () => {
    await create(INVOICE);
    await server().numbers.issue('invoice', ['a', 'b'], 'shop');
    for (const table of ['leaf_number_head', 'leaf_number', 'leaf_number_journal'])
      await execute(`DELETE FROM ${table}`);
    await execute("UPDATE leaf_segment_server SET server = 'the former primary'");
    await expect(server().numbers.issue('invoice', ['c'], 'shop')).rejects.toMatchObject(LOST);
  });

  it('never go on below their end, though the rows and lines up to there are gone', async () => {
    await create(INVOICE);
    const { numbers, store } = server();
    await numbers.issue('invoice', ['a', 'b', 'c'], 'shop');
    const { hash } = (await store.headOf('invoice', ''))!;
    for (const table of ['leaf_number', 'leaf_number_journal']) await execute(`DELETE FROM ${table} WHERE number > 1`);
    const where = { by: 'admin', reason: 'restored' };
    await expect(numbers.continueAfter('invoice', { ...where, lastNumber: 2n })).rejects.toMatchObject({
      code: 'LEAF_MAX_ID_BACKWARDS',
    });
    expect(await numbers.continueAfter('invoice', { ...where, lastNumber: 3n })).toBe(0);
    expect(await store.headOf('invoice', '')).toMatchObject({ next: 4n, position: 3, hash, continued: 1 });
  });

  it('of a period that began after a loss say nothing about the periods before it', async () => {
    await create({ ...INVOICE, reset: 'monthly', zone: 'UTC' });
    await execute("DELETE FROM leaf_number_head WHERE period = ''");
    const { numbers } = server();
    await numbers.watch();
    await execute("UPDATE leaf_segment_server SET server = 'the former primary'");
    const issue = (key: string, at: Date): Promise<unknown> => numbers.issue('invoice', [key], 'shop', at);
    const now = new Date();
    await expect(issue('a', now)).rejects.toMatchObject(LOST);
    const { opensAt } = periodOf('monthly', now.toISOString().slice(0, 7));
    const promoted = new Date(opensAt - 48 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
    await execute(`UPDATE leaf_segment_server SET update_time = '${promoted}'`);
    expect(await issue('a', now)).toMatchObject([{ number: { number: 1n } }]);
    expect(await execute("SELECT epoch FROM leaf_number_head WHERE period = ''")).toEqual([{ epoch: 0 }]);
    await expect(issue('b', new Date(now.getTime() - 32 * 86_400_000))).rejects.toMatchObject(LOST);
  });

  it('of a period that opened after a loss was noticed begin at the first number', async () => {
    await create({ ...INVOICE, reset: 'monthly', zone: 'UTC' });
    wall.step(Date.UTC(2001, 0, 1) - wall.now());
    const { numbers } = server();
    const issue = (key: string, at?: Date): Promise<unknown> => numbers.issue('invoice', [key], 'shop', at);
    await issue('a');
    await issue('b');
    await execute("UPDATE leaf_number_head SET next_number = 2, position = 1 WHERE period <> ''");
    for (const table of ['leaf_number', 'leaf_number_journal']) await execute(`DELETE FROM ${table} WHERE number > 1`);
    await expect(issue('c')).rejects.toMatchObject(LOST);
    await execute("UPDATE leaf_segment_server SET update_time = '2001-01-01 00:00:00'");
    expect(await issue('d', new Date(Date.now() - 32 * 86_400_000))).toMatchObject([{ number: { number: 1n } }]);
    await expect(issue('c')).rejects.toMatchObject(LOST);
  });

  it('of a tag without an end of its own begin in each period while nothing is lost', async () => {
    await create({ ...INVOICE, reset: 'monthly', zone: 'UTC' });
    await execute('DELETE FROM leaf_number_head');
    const { numbers } = server();
    for (const at of [new Date(), new Date(Date.now() - 32 * 86_400_000)]) {
      expect(await numbers.issue('invoice', [String(at)], 'shop', at)).toMatchObject([{ number: { number: 1n } }]);
    }
  });

  it('that are open are none before the first one', async () => {
    await create(INVOICE);
    expect(await server().numbers.watch()).toEqual([{ tag: 'invoice', count: 0, lines: 0, oldest: undefined }]);
  });
});
