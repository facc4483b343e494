import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_ID, periodRow, SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { connect } from '../../../../test/support/contract/sql-stores';
import { day } from '../../../../test/support/contract/period.contract';
import { createSegmentStore, createTagStore } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import { LeafDataSource } from '../database/leaf-data-source';
import { FIRST_TAG } from '../database/open-database';
import { type RestoredRow, restoreDatabase, type RestoreOptions, type RestoreReport } from './restore-database';

const GAP = { steps: 2, least: 100 };

describe('a database that was restored from a backup', () => {
  let directory: string;
  let url: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'leaf-restore-'));
    url = `sqlite:${join(directory, 'leaf.sqlite')}`;
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(directory, { recursive: true });
  });

  async function within<T>(act: (database: LeafDataSource) => Promise<T>): Promise<T> {
    const database = await connect(parseDatabaseUrl(url));
    try {
      return await act(database);
    } finally {
      await database.destroy();
    }
  }

  function restore(options: Partial<RestoreOptions> = {}): Promise<RestoreReport> {
    const given = { url, migrate: false, gap: GAP, issued: new Map<string, bigint>(), dryRun: false, ...options };
    return restoreDatabase(given, new SystemClock(), systemRandom);
  }

  /** The tags `order`, `small` up to 120, and `invoice` with a period. */
  async function fill(): Promise<void> {
    await within(async (database) => {
      const tags = createTagStore(database);
      const segments = createSegmentStore(database, { gapSteps: 10, onFailover: () => undefined });
      await tags.remove(FIRST_TAG);
      await tags.create({ tag: 'order', step: 10 });
      await segments.allocate('order', 16);
      await tags.create({ tag: 'small', step: 10, max: 120n });
      const kind = await tags.create({ tag: 'invoice', step: 10, reset: 'daily', zone: 'UTC' });
      await segments.beginPeriod('invoice', kind, day(), 1n);
      await segments.allocate(periodRow('invoice', day().name), 5);
    });
  }

  const rowsOf = (report: RestoreReport): Record<string, RestoredRow> =>
    Object.fromEntries(report.rows.map((row) => [row.row, row]));
  const positions = (): Promise<unknown> =>
    within((database) => database.query('SELECT biz_tag, max_id, next_id FROM leaf_alloc ORDER BY biz_tag'));

  it('has to be there', async () => {
    const message = (of: string): string =>
      `${of} has no tables of Leaf. Load the backup first, then run the command again.`;
    const refused = (of: string): object => ({ code: 'LEAF_CONFIG_INVALID', message: message(of) });
    await expect(restore()).rejects.toMatchObject(refused(url));
    await expect(restore({ url: 'sqlite::memory:' })).rejects.toMatchObject(refused('sqlite::memory: (nothing lasts)'));
    // The tables would be new.
    const empty = `sqlite:${join(directory, 'empty.sqlite')}`;
    await (await connect(parseDatabaseUrl(empty), false)).destroy();
    await expect(restore({ url: empty, migrate: true })).rejects.toMatchObject(refused(empty));
    await writeFile(join(directory, 'torn.sqlite'), '');
    const torn = restore({ url: `sqlite:${join(directory, 'torn.sqlite')}` });
    await expect(torn).rejects.toMatchObject({ code: 'LEAF_DATABASE_UNUSABLE' });
  });

  it('issues no ID below the gap, and says which tags are used up', async () => {
    await fill();
    const opened = jest.spyOn(LeafDataSource.prototype, 'initialize');
    const report = await restore();
    expect(opened.mock.contexts.map((each: LeafDataSource) => each.isInitialized)).toEqual([false]);
    expect(report).toMatchObject({ database: url, dryRun: false, gap: '200', deleted: 1, registry: false });
    const row = periodRow('invoice', day().name);
    expect(report.rows.map(({ row: name }) => name)).toEqual(['invoice', row, 'order', 'small']);
    const { order, small, [row]: period } = rowsOf(report);
    expect(order).toEqual({ row: 'order', before: '17', after: String(17 + 200), state: 'moved' });
    expect(period).toMatchObject({ before: '6', after: String(6 + 200), state: 'moved' });
    expect(small).toMatchObject({ before: '1', max: '120', state: 'used up' });
    expect(Number(small?.after)).toBeGreaterThan(120);
    await within(async (database) => {
      const segments = createSegmentStore(database, { gapSteps: 10, onFailover: () => undefined });
      expect((await segments.allocate('order', 1)).from).toBeGreaterThanOrEqual(217n);
      await expect(segments.allocate('small', 1)).rejects.toMatchObject({ code: 'LEAF_TAG_EXHAUSTED' });
    });
    // A repetition moves them again.
    expect(Number(rowsOf(await restore()).order?.before)).toBeGreaterThanOrEqual(217);
  });

  it('is not changed by a dry run, which reports the same', async () => {
    await fill();
    const before = await positions();
    const planned = await restore({ dryRun: true });
    expect(await positions()).toEqual(before);
    expect(planned.dryRun).toBe(true);
    expect({ ...(await restore()), dryRun: true }).toEqual(planned);
  });

  it('goes on above the highest ID of a tag, if it is known, in all periods of the tag', async () => {
    await fill();
    const issued = new Map([
      ['order', 1000n],
      ['invoice', 50n],
      ['small', 120n],
    ]);
    const rows = rowsOf(await restore({ issued }));
    expect(rows.order).toMatchObject({ before: '17', after: '1001', state: 'moved' });
    expect(rows[periodRow('invoice', day().name)]).toMatchObject({ before: '6', after: '51' });
    expect(rows.small).toMatchObject({ after: '121', max: '120', state: 'used up' });
    // The backup is newer than what is known.
    expect(rowsOf(await restore({ issued: new Map([['order', 3n]]) })).order).toMatchObject({
      ...{ before: '1001', after: '1001' },
    });
    // Of one period alone.
    const period = periodRow('invoice', day().name);
    const { invoice, [period]: row } = rowsOf(await restore({ issued: new Map([[period, 5000n]]) }));
    expect(row?.after).toBe('5001');
    expect(invoice?.after).not.toBe('5001');
  });

  it('can issue the last ID of a tag', async () => {
    await within(async (database) => {
      await createTagStore(database).create({ tag: 'last', step: 1, max: 500n });
      await createTagStore(database).create({ tag: 'end', step: 1 });
      await createTagStore(database).create({ tag: 'ended', step: 1 });
    });
    const issued = new Map([
      ['last', 499n],
      ['end', MAX_ID - 2n],
      ['ended', MAX_ID - 1n],
    ]);
    const rows = rowsOf(await restore({ issued }));
    expect(rows.last).toMatchObject({ after: '500', max: '500', state: 'moved' });
    expect(rows.end).toEqual(expect.objectContaining({ after: String(MAX_ID - 1n), state: 'moved' }));
    expect(rows.ended).toMatchObject({ after: String(MAX_ID), state: 'used up' });
  });

  it('is not changed for an unknown tag or without a gap', async () => {
    await fill();
    const before = await positions();
    const unknown = restore({ issued: new Map([['typo', 5n]]) });
    await expect(unknown).rejects.toMatchObject({
      ...{ code: 'LEAF_TAG_NOT_FOUND', message: expect.stringContaining('typo') as string },
    });
    await expect(restore({ gap: { steps: 0, least: 1 } })).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    expect(await positions()).toEqual(before);
  });

  it('is not reported as moved when the transaction cannot be committed', async () => {
    await fill();
    const before = await positions();
    await within(async (database) => {
      await database.query('CREATE TABLE parent (id integer PRIMARY KEY)');
      await database.query('CREATE TABLE child (id integer REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)');
      await database.query('CREATE TRIGGER orphan AFTER UPDATE ON leaf_alloc BEGIN INSERT INTO child VALUES (1); END');
    });
    await expect(restore()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(await positions()).toEqual(before);
  });

  it('has lost the history of its worker registry, whose layout stays', async () => {
    await fill();
    const document = {
      ...{ id: 'f00', madeAt: 1, strategy: 'database', layout: 'a', highest: 7, generation: 3 },
      ...{ origin: 'sqlite', began: 1, floor: 1 },
    };
    const put = (text: string): Promise<unknown> =>
      within((database) =>
        database.query(`INSERT OR REPLACE INTO leaf_registry (name, document) VALUES ('workers', '${text}')`),
      );
    const stored = async (): Promise<string> => {
      const sql = "SELECT document FROM leaf_registry WHERE name = 'workers'";
      const [row] = await within((database) => database.query<{ document: string }[]>(sql));
      return row!.document;
    };
    const other = "SELECT document FROM leaf_registry WHERE name = 'a'";
    await within((database) => database.query(`INSERT INTO leaf_registry (name, document) VALUES ('a', '{}')`));
    await put(JSON.stringify(document));
    expect(await restore()).toMatchObject({ registry: true });
    expect(await within((database) => database.query(other))).toEqual([{ document: '{}' }]);
    expect(JSON.parse(await stored())).toMatchObject({ ...document, origin: 'restored' });
    await put('torn');
    expect(await restore()).toMatchObject({ registry: false });
    expect(await stored()).toBe('torn');
  });
});
