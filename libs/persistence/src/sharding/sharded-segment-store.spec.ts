import { type IdRange, LeafError } from '@leaf-ids/core';
import { FIRST_TAG } from '../database/open-database';
import { type ShardedDatabases, shardedDatabases } from '../../../../test/support/servers/shards';
import type { Shard } from './shard';

const MEMORY = 'sqlite::memory:';
/** Tags by their owner. */
const OWNERS = { plain: 'a', other: 'b', third: 'c', shared: 'a', [FIRST_TAG]: 'a' };
const AWAY = new LeafError('LEAF_STORE_UNAVAILABLE', 'away', { retryAfterMs: 1000 });
const UNAVAILABLE = { code: 'LEAF_STORE_UNAVAILABLE' };
const REFUSED = { code: 'LEAF_TAG_ROW_INVALID' };
const NOT_FOUND = { code: 'LEAF_TAG_NOT_FOUND' };

describe('the tags of several databases', () => {
  let databases: ShardedDatabases;
  let a: Shard, b: Shard, c: Shard;

  beforeEach(async () => {
    databases = shardedDatabases({ a: MEMORY, b: MEMORY, c: MEMORY }, OWNERS);
    await databases.shards.start();
    [a, b, c] = databases.shards.all as [Shard, Shard, Shard];
    await databases.tags.remove(FIRST_TAG);
    await databases.tags.create({ tag: 'plain', step: 10 });
    await databases.tags.create({ tag: 'other', step: 10 });
  });
  afterEach(() => databases.shards.close());

  /** Every call of these databases fails, until the result is called. */
  function takeAway(...shards: Shard[]): () => void {
    const get = (): never => {
      throw AWAY;
    };
    for (const shard of shards) Object.defineProperty(shard, 'stores', { get, configurable: true });
    return () => {
      for (const shard of shards) Reflect.deleteProperty(shard, 'stores');
    };
  }

  const namesOf = async (): Promise<string[]> => (await databases.segments.listTags()).map(({ tag }) => tag).sort();

  it('are described by all of them', () => {
    const described = ['a', 'b', 'c'].map((name) => `${name}=${MEMORY} (nothing lasts)`);
    expect(databases.segments.description).toBe(described.join(' '));
    expect(['plain', 'other', 'third'].map((tag) => databases.segments.databaseOf(tag))).toEqual(['a', 'b', 'c']);
  });

  it('stay known while their database does not respond', async () => {
    const { segments, reports } = databases;
    expect(await namesOf()).toEqual(['other', 'plain']);
    const restore = takeAway(b);
    expect(await namesOf()).toEqual(['other', 'plain']);
    expect(reports).toEqual(['b failed']);
    restore();
    await databases.tags.remove('other');
    expect(await namesOf()).toEqual(['plain']);
    takeAway(a, b, c);
    await expect(segments.listTags()).rejects.toMatchObject({
      ...{ ...UNAVAILABLE, retryAfterMs: 1000 },
      message: 'None of the segment databases responds; the causes are in the log of this server.',
    });
  });

  it('are found and allocated in the database that owns them', async () => {
    const { segments } = databases;
    expect(await segments.findTag('plain')).toMatchObject({ tag: 'plain' });
    expect(await segments.findTag('third')).toBeUndefined();
    await expect(segments.allocate('third', 1)).rejects.toMatchObject(NOT_FOUND);
    expect(await segments.allocate('plain', 5)).toMatchObject({ from: 1n, to: 5n });
    expect(await segments.allocate('other', undefined)).toMatchObject({ from: 1n, to: 10n });
    const restore = takeAway(b);
    await expect(segments.findTag('other')).rejects.toBe(AWAY);
    await expect(segments.allocate('other', 1)).rejects.toBe(AWAY);
    expect(await segments.allocate('plain', 5)).toMatchObject({ from: 6n, to: 10n });
    restore();
    expect(await segments.allocate('other', 5)).toMatchObject({ from: 11n, to: 15n });
  });

  it('are not found after an error that a repetition does not mend', async () => {
    const broken = new Error('broken');
    a.stores.segments.findTag = () => Promise.reject(broken);
    await expect(databases.segments.findTag('plain')).rejects.toBe(broken);
    const never = new LeafError('LEAF_TAG_ROW_INVALID', 'broken');
    a.stores.segments.findTag = () => Promise.reject(never);
    await expect(databases.segments.findTag('plain')).rejects.toBe(never);
  });

  it('are not asked for again while they are known', async () => {
    const { segments, shards } = databases;
    await segments.listTags();
    const asked = jest.spyOn(a.stores.segments, 'findTag');
    const compared = jest.spyOn(shards.roster, 'update');
    await segments.allocate('plain', 1);
    const exhausted = new LeafError('LEAF_TAG_EXHAUSTED', 'used up');
    a.stores.segments.allocate = () => Promise.reject(exhausted);
    await expect(segments.allocate('plain', 1)).rejects.toBe(exhausted);
    expect([asked.mock.calls, compared.mock.calls]).toEqual([[], []]);
  });

  it('whose rows are gone may be in a list without their database', async () => {
    const { segments } = databases;
    await segments.listTags();
    await b.stores.tags.remove('other');
    await expect(segments.allocate('other', 1)).rejects.toMatchObject(NOT_FOUND);
    await databases.tags.create({ tag: 'other', step: 10 });
    await segments.listTags();
    for (const shard of [a, c]) await shard.stores.names.mark('b', 'removed');
    await b.stores.tags.remove('other');
    const message = expect.stringContaining('Tag "other" is not found. The database "b" was removed') as string;
    await expect(segments.allocate('other', 1)).rejects.toMatchObject({ ...REFUSED, message });
  });

  it('begin a period again whose row is gone, though the name of a database is missing', async () => {
    const { segments, tags } = databases;
    await tags.create({ tag: 'third', step: 10, reset: 'daily', zone: 'UTC' });
    await segments.listTags();
    for (const shard of [a, b, c]) await shard.stores.names.add('missing');
    await expect(segments.allocate('third@2023-11-14', 1)).rejects.toMatchObject(NOT_FOUND);
  });

  it('are allocated together, and fail apart', async () => {
    const { segments } = databases;
    await segments.listTags();
    const requests = ['other', 'third', 'plain'].map((tag) => ({ tag, size: 5 }));
    const once = jest.spyOn(a.stores.segments, 'allocateAll');
    expect(await segments.allocateAll(requests)).toMatchObject([{ from: 1n, to: 5n }, NOT_FOUND, { from: 1n, to: 5n }]);
    expect(once.mock.calls).toEqual([[[requests[2]]]]);
    const single = jest.spyOn(a.stores.segments, 'allocate');
    await segments.allocateAll([requests[2]!]);
    expect([once.mock.calls.length, single.mock.calls.length]).toEqual([2, 0]);
    takeAway(b);
    expect(await segments.allocateAll(requests)).toMatchObject([AWAY, NOT_FOUND, { from: 11n, to: 15n }]);
    expect(await segments.allocateAll([])).toStrictEqual([]);
  });

  it('are given back, raised and recovered in the database that owns them', async () => {
    const { segments } = databases;
    const range: IdRange = { from: 6n, to: 10n };
    await segments.allocate('other', 10);
    expect(await segments.giveBack('other', range)).toBe(true);
    expect(await segments.giveBack('other', range)).toBe(false);
    await segments.raise('other', 100n);
    expect(await segments.allocate('other', 1)).toMatchObject({ from: 100n });
    const recovered = jest.spyOn(b.stores.segments, 'recover').mockResolvedValue();
    await segments.recover('other', 200n);
    expect(recovered.mock.calls).toEqual([['other', 200n]]);
    expect(await segments.allocate('plain', 1)).toMatchObject({ from: 1n });
  });

  it('that are deleted are on record in the database that owned them', async () => {
    const { segments, tags } = databases;
    await segments.allocate('other', 10);
    await b.stores.tags.remove('other');
    await segments.recordDeleted('other', 500n);
    expect(await tags.create({ tag: 'other', step: 10 })).toMatchObject({ maxId: 500n });
    takeAway(b);
    await expect(segments.recordDeleted('other', 600n)).rejects.toBe(AWAY);
  });

  it('can be served while any of the databases responds', async () => {
    const { segments } = databases;
    expect(await segments.ping()).toBeUndefined();
    const restore = takeAway(b, c);
    expect(await segments.ping()).toBe('b: away; c: away');
    restore();
    takeAway(a, b, c);
    await expect(segments.ping()).rejects.toBe(AWAY);
  });

  describe('with a row in a database that does not own it', () => {
    const row = { tag: 'third', step: 10 };

    it('are reported once, and refused', async () => {
      const { segments, reports } = databases;
      await b.stores.tags.createAbove(row);
      for (let n = 0; n < 2; n++) expect(await namesOf()).toEqual(['other', 'plain']);
      expect(reports).toEqual(['third in b, not c']);
      const message = expect.stringContaining('belongs to the database "c", but has a row in "b"') as string;
      for (const act of [segments.findTag('third'), segments.allocate('third', 1)]) {
        await expect(act).rejects.toMatchObject({ ...REFUSED, message });
      }
      expect(await segments.allocateAll([{ tag: 'third', size: 1 }])).toMatchObject([{ ...REFUSED, message }]);
      await b.stores.tags.remove('third');
      await namesOf();
      expect(await segments.findTag('third')).toBeUndefined();
      await b.stores.tags.createAbove(row);
      await namesOf();
      expect(reports).toEqual(['third in b, not c', 'third in b, not c']);
    });

    it('are served while their own row is ahead, and refused while it is behind', async () => {
      const { segments } = databases;
      await b.stores.tags.createAbove(row);
      await c.stores.tags.createAbove(row);
      await b.stores.segments.raise('third', 100n);
      await namesOf();
      const message = expect.stringContaining('has issued IDs up to 99 from the database "b"') as string;
      await expect(segments.allocate('third', 1)).rejects.toMatchObject({ ...REFUSED, message });
      await c.stores.segments.raise('third', 100n);
      expect(await segments.allocate('third', 1)).toMatchObject({ from: 100n });
      expect(await segments.findTag('third')).toMatchObject({ tag: 'third' });
      // A failover may move the other row.
      await b.stores.segments.raise('third', 500n);
      await expect(segments.allocate('third', 1)).rejects.toMatchObject(REFUSED);
      expect(await segments.allocateAll([{ tag: 'third', size: 1 }])).toMatchObject([REFUSED]);
      const restore = takeAway(b);
      await expect(segments.allocate('third', 1)).rejects.toBe(AWAY);
      restore();
      await b.stores.tags.remove('third');
      expect(await segments.allocate('third', 1)).toMatchObject({ from: 101n });
      // It is alone from now on.
      takeAway(b);
      expect(await segments.allocate('third', 1)).toMatchObject({ from: 102n });
    });

    it('are refused once their own row is gone', async () => {
      const { segments } = databases;
      await b.stores.tags.createAbove(row);
      await c.stores.tags.createAbove(row);
      await namesOf();
      expect(await segments.allocate('third', 1)).toMatchObject({ from: 1n });
      await c.stores.tags.remove('third');
      await expect(segments.allocate('third', 1)).rejects.toMatchObject(REFUSED);
    });

    it('begin no period that another database may have begun', async () => {
      const { segments } = databases;
      const kind = { ...row, reset: 'daily' as const, zone: 'UTC' };
      await b.stores.tags.createAbove(row);
      await c.stores.tags.createAbove(kind);
      await namesOf();
      const message = expect.stringContaining('may have rows of its periods') as string;
      await expect(segments.allocate('third', 1)).rejects.toMatchObject({ ...REFUSED, message });
      const period = { name: '2023-11-14', start: 0, end: 1 };
      const entry = await c.stores.segments.findTag('third');
      await expect(segments.beginPeriod('third', entry!.kind!, period as never, 1n)).rejects.toMatchObject({
        ...{ ...REFUSED, message },
      });
    });
  });

  it('of a database that was taken out are refused, and their leftover rows are not reported', async () => {
    const { segments, reports } = databases;
    await segments.listTags();
    for (const shard of [a, c]) await shard.stores.names.mark('b', 'removed');
    await namesOf();
    expect(await segments.allocateAll([{ tag: 'other', size: 1 }])).toMatchObject([REFUSED]);
    await a.stores.tags.createAbove({ tag: 'other', step: 10 });
    await namesOf();
    expect(reports).toEqual([expect.stringContaining('The database "b" was removed')]);
    const message = expect.stringMatching(/^Tag "other" is not found\. The database "b" was removed/) as string;
    const refused = { ...REFUSED, message };
    await expect(segments.allocate('other', 1)).rejects.toMatchObject(refused);
    expect(await segments.allocateAll([{ tag: 'other', size: 1 }])).toMatchObject([refused]);
    const kind = (await b.stores.segments.findTag('other'))!.kind!;
    await expect(segments.beginPeriod('other', kind, {} as never, 1n)).rejects.toMatchObject(refused);
    expect(await segments.allocate('plain', 1)).toMatchObject({ from: 1n });
  });

  describe('interleaved over all of them', () => {
    const interleave = { of: 3, remainder: 0, block: 100 };
    beforeEach(async () => {
      await databases.tags.create({ tag: 'shared', step: 10, interleave });
    });

    it('go on from another database, above all that was issued', async () => {
      const { segments } = databases;
      await segments.listTags();
      expect(await segments.allocate('shared', 1)).toMatchObject({ from: 1n, to: 100n });
      const restore = takeAway(a);
      expect(await segments.findTag('shared')).toMatchObject({ kind: { interleave: { of: 3, block: 100 } } });
      const { from, to } = await segments.allocate('shared', 1);
      // From either of the others.
      expect([101n, 201n]).toContain(from);
      expect(to - from).toBe(99n);
      restore();
      // The database of the newest block, until the next refresh.
      expect(await segments.allocateAll([{ tag: 'shared', size: 1 }])).toMatchObject([{ from: from + 300n }]);
      await segments.listTags();
      expect(await segments.allocate('shared', 1)).toMatchObject({ from: 601n });
      expect(await segments.allocateAll([{ tag: 'shared', size: 1 }])).toMatchObject([{ from: 901n }]);
      takeAway(a, b, c);
      await expect(segments.allocate('shared', 1)).rejects.toBe(AWAY);
    });

    it('go on from the same database without more statements than an allocation', async () => {
      const { segments } = databases;
      await segments.listTags();
      const raised = jest.spyOn(a.stores.segments, 'raise');
      await segments.allocate('shared', 1);
      const read = jest.spyOn(a.stores.tags, 'current');
      await segments.allocate('shared', 1);
      expect([raised.mock.calls, read.mock.calls]).toEqual([[], []]);
    });

    it('go on above the last of many blocks', async () => {
      const { segments } = databases;
      await segments.listTags();
      const { more } = await segments.allocate('shared', 400);
      expect(more?.at(-1)).toMatchObject({ from: 901n, to: 1000n });
      takeAway(a);
      expect((await segments.allocate('shared', 1)).from).toBeGreaterThan(1000n);
    });

    it('ascend from block to block of a single ID', async () => {
      const { segments, tags } = databases;
      await tags.remove('shared');
      await tags.create({ tag: 'third', step: 1, interleave: { of: 3, remainder: 0, block: 1 } });
      await segments.listTags();
      const first = [];
      for (let n = 0; n < 3; n++) first.push((await segments.allocate('third', 1)).from);
      expect(first).toEqual([3n, 6n, 9n]);
      // The other one has IDs just below.
      takeAway(c, a);
      expect(await segments.allocate('third', 1)).toMatchObject({ from: 11n });
    });

    it('go on without a database that has lost its share', async () => {
      const { segments } = databases;
      await a.stores.tags.remove('shared');
      await segments.listTags();
      expect([101n, 201n]).toContain((await segments.allocate('shared', 1)).from);
    });

    it.each<[string, Error]>([
      ['an operator', new LeafError('LEAF_TAG_ROW_INVALID', 'broken')],
      ['a correction of the code', new Error('broken')],
    ])('are not allocated elsewhere after an error that needs %s', async (_, error) => {
      const { segments } = databases;
      await segments.listTags();
      a.stores.segments.allocate = () => Promise.reject(error);
      await expect(segments.allocate('shared', 1)).rejects.toBe(error);
    });

    it('are not found elsewhere after an error that a repetition does not mend', async () => {
      const { segments } = databases;
      await segments.listTags();
      const never = new LeafError('LEAF_TAG_ROW_INVALID', 'broken');
      a.stores.segments.findTag = () => Promise.reject(never);
      await expect(segments.findTag('shared')).rejects.toBe(never);
    });

    it('that are deleted are on record wherever a database responds', async () => {
      const { segments, tags } = databases;
      await segments.listTags();
      await tags.remove('shared');
      const restore = takeAway(b);
      await segments.recordDeleted('shared', 5000n);
      restore();
      await tags.create({ tag: 'shared', step: 10, interleave });
      expect((await segments.allocate('shared', 1)).from).toBeGreaterThanOrEqual(5000n);
    });

    it('are found by a server whose owner was away from the start', async () => {
      const { segments } = databases;
      takeAway(a);
      expect([101n, 201n]).toContain((await segments.allocate('shared', 1)).from);
      await expect(segments.findTag('plain')).rejects.toBe(AWAY);
    });

    it('are not found any more once their rows are gone', async () => {
      const { segments, tags } = databases;
      await segments.listTags();
      await tags.remove('shared');
      await segments.listTags();
      expect(await segments.findTag('shared')).toBeUndefined();
      await expect(segments.allocate('shared', 1)).rejects.toMatchObject(NOT_FOUND);
    });

    it('take back a block where it came from', async () => {
      const { segments } = databases;
      await segments.listTags();
      takeAway(a);
      const { from, to } = await segments.allocate('shared', 1);
      expect(await segments.giveBack('shared', { from, to })).toBe(true);
      expect(await segments.giveBack('shared', { from, to: to - 1n })).toBe(false);
      expect(await segments.giveBack('shared', { from: 1n, to: 300n })).toBe(false);
    });

    it('are raised and recovered in all databases that respond', async () => {
      const { segments } = databases;
      await segments.listTags();
      const restore = takeAway(b);
      await segments.raise('shared', 1000n);
      restore();
      takeAway(a);
      await segments.listTags();
      const { from } = await segments.allocate('shared', 1);
      expect(from).toBeGreaterThanOrEqual(1000n);
      const recovered = [b, c].map((each) => jest.spyOn(each.stores.segments, 'recover').mockResolvedValue());
      await segments.recover('shared', 5000n);
      expect(recovered.map(({ mock }) => mock.calls)).toEqual([[['shared', 5000n]], [['shared', 5000n]]]);
      takeAway(b, c);
      await expect(segments.raise('shared', 9000n)).rejects.toBe(AWAY);
      await expect(segments.recover('shared', 9000n)).rejects.toBe(AWAY);
    });

    it('are refused when two databases would issue the same IDs', async () => {
      const { segments } = databases;
      await b.stores.tags.remove('shared');
      await b.stores.tags.createAbove({ tag: 'shared', step: 10, interleave: { of: 3, remainder: 0, block: 100 } });
      await segments.listTags();
      await expect(segments.allocate('shared', 1)).rejects.toMatchObject({
        ...REFUSED,
        message: expect.stringMatching(
          /^Tag "shared" has conflicting shares in "[ab]" and "[ab]": .* Delete the wrong row/,
        ) as string,
      });
    });
  });
});
