import type { SegmentStore, TagStore } from '@leaf-ids/core';
import { day } from '../../../../../test/support/contract/period.contract';
import { connect } from '../../../../../test/support/contract/sql-stores';
import { createSegmentStore, createTagStore } from '../../database/create-store';
import { parseDatabaseUrl } from '../../database/database-url';
import type { LeafDataSource } from '../../database/leaf-data-source';
import { SqliteSegmentStore } from './sqlite-segment-store';

const INVALID = { code: 'LEAF_TAG_ROW_INVALID' };

describe('the segments of a tag in SQLite', () => {
  let database: LeafDataSource;
  let tags: TagStore;
  let segments: SegmentStore;

  beforeEach(async () => {
    database = await connect(parseDatabaseUrl('sqlite::memory:'));
    tags = createTagStore(database);
    segments = createSegmentStore(database, { gapSteps: 10, onFailover: () => undefined });
    await tags.create({ tag: 'order', step: 10 });
  });
  afterEach(() => database.destroy());

  it('are as long as asked for, or a step', async () => {
    expect(segments).toBeInstanceOf(SqliteSegmentStore);
    expect(await segments.allocate('order', undefined)).toEqual({ from: 1n, to: 10n, step: 10, maxStep: undefined });
    expect(await segments.allocate('order', 5)).toEqual({ from: 11n, to: 15n, step: 10, maxStep: undefined });
    await tags.change('order', { maxStep: 40 });
    expect(await segments.allocate('order', 1)).toEqual({ from: 16n, to: 16n, step: 10, maxStep: 40 });
    expect(await tags.find('order')).toMatchObject({ maxId: 17n });
  });

  it('are exact above 2^53', async () => {
    const maxId = 2n ** 53n + 1n;
    await tags.change('order', { maxId });
    expect(await segments.allocate('order', 3)).toMatchObject({ from: maxId, to: maxId + 2n });
  });

  it.each(['step', 'max_id'])('do not come from a row whose %s is not a number', async (column) => {
    await database.query(`UPDATE leaf_alloc SET ${column} = 'ten'${column === 'max_id' ? ', next_id = NULL' : ''}`);
    for (const size of [undefined, 5]) {
      await expect(segments.allocate('order', size)).rejects.toMatchObject(INVALID);
    }
  });

  it('go back, and are raised, only where they are the last ones', async () => {
    const { from, to } = await segments.allocate('order', 10);
    expect(await segments.giveBack('order', { from: to + 1n, to: to + 5n })).toBe(false);
    expect(await segments.giveBack('order', { from, to })).toBe(true);
    await segments.raise('order', 100n);
    await segments.raise('order', 50n);
    expect(await segments.allocate('order', 1)).toMatchObject({ from: 100n });
    expect(await segments.giveBack('order', { from, to })).toBe(false);
  });

  it('of a period begin once', async () => {
    const kind = await tags.create({ tag: 'invoice', step: 10, reset: 'daily', zone: 'UTC' });
    const row = `invoice@${day().name}`;
    for (let n = 0; n < 2; n++) await segments.beginPeriod('invoice', kind, day(), 1n);
    expect(await segments.allocate(row, 3)).toMatchObject({ from: 1n, to: 3n });
    await segments.beginPeriod('invoice', kind, day(), 1n);
    expect(await segments.allocate(row, 3)).toMatchObject({ from: 4n });
  });

  it('say when they were last given', async () => {
    await database.query("UPDATE leaf_alloc SET update_time = '2001-01-01'");
    await segments.allocate('order', 1);
    const sql = "SELECT update_time > '2020-01-01' AS isNew FROM leaf_alloc WHERE biz_tag = 'order'";
    expect(await database.query(sql)).toEqual([{ isNew: 1 }]);
  });
});
