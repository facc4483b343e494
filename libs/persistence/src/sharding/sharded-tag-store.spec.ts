import { LeafError, type NewTag, type TagRow } from '@leaf-ids/core';
import { FIRST_TAG } from '../database/open-database';
import { type ShardedDatabases, shardedDatabases } from '../../../../test/support/servers/shards';
import type { Shard } from './shard';
import { ShardedNumberStore } from './sharded-number-store';

const MEMORY = 'sqlite::memory:';
/** Tags by their owner. */
const OWNERS = { one: 'a', two: 'b', three: 'c', four: 'a', shared: 'b', [FIRST_TAG]: 'a' };
const EXISTS = { code: 'LEAF_TAG_EXISTS' };
const AWAY = new LeafError('LEAF_STORE_UNAVAILABLE', 'away', { retryAfterMs: 1000 });

let databases: ShardedDatabases;
let a: Shard, b: Shard, c: Shard;

beforeEach(async () => {
  // Their names are not in order.
  databases = shardedDatabases({ b: MEMORY, a: MEMORY, c: MEMORY }, OWNERS);
  await databases.shards.start();
  [b, a, c] = databases.shards.all as [Shard, Shard, Shard];
  await databases.tags.remove(FIRST_TAG);
});
afterEach(() => databases.shards.close());

function takeAway(shard: Shard): void {
  const get = (): never => {
    throw AWAY;
  };
  Object.defineProperty(shard, 'stores', { get, configurable: true });
}

describe('the rows of the tags of several databases', () => {
  const namesOf = (rows: readonly TagRow[]): string[] => rows.map(({ tag }) => tag);
  const create = (tag: string): Promise<TagRow> => databases.tags.create({ tag, step: 10 });

  it('are listed by name, in pages, without those in the wrong database', async () => {
    const { tags } = databases;
    expect(await tags.list()).toStrictEqual([]);
    for (const tag of ['two', 'one', 'three', 'four']) await create(tag);
    await a.stores.tags.createAbove({ tag: 'stray', step: 10 });
    await (databases.shards.of('stray') === a ? b : c).stores.tags.createAbove({ tag: 'stray-2', step: 10 });
    const known = ['four', 'one', 'three', 'two'];
    const isListed = (tag: string): boolean => known.includes(tag);
    expect(namesOf(await tags.list()).filter(isListed)).toEqual(known);
    for (const limit of [1, 2, 3, 10]) {
      const pages: string[][] = [];
      for (let after: string | undefined; ; after = pages.at(-1)?.at(-1)) {
        const page = namesOf(await tags.list({ limit, ...(after !== undefined && { after }) }));
        expect(page.length).toBeLessThanOrEqual(limit);
        if (page.length === 0) break;
        pages.push(page);
      }
      expect(pages.flat().filter(isListed)).toEqual(known);
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    }
    takeAway(c);
    await expect(tags.list()).rejects.toBe(AWAY);
  });

  it('do not show a row that does not belong to its database', async () => {
    const owner = databases.shards.of('stray');
    const other = owner === a ? b : a;
    await other.stores.tags.createAbove({ tag: 'stray', step: 10 });
    expect(await databases.tags.list()).toStrictEqual([]);
    expect(await databases.tags.find('stray')).toBeUndefined();
    await other.stores.tags.remove('stray');
  });

  it('are found, changed and deleted in the database that owns them', async () => {
    const { tags } = databases;
    await create('one');
    expect(tags.shardOf('one')).toBe('a');
    expect(await tags.find('one')).toMatchObject({ tag: 'one', step: 10 });
    expect(await tags.change('one', { step: 20 })).toMatchObject({ before: { step: 10 }, after: { step: 20 } });
    // Others that are away do not matter.
    takeAway(c);
    expect(await tags.remove('one')).toMatchObject({ step: 20 });
    expect(await tags.find('one')).toBeUndefined();
  });

  it('are not created where another database has one, or may have one', async () => {
    await b.stores.tags.createAbove({ tag: 'one', step: 10 });
    const message = expect.stringContaining('belongs to the database "a", but has a row in "b"') as string;
    await expect(create('one')).rejects.toMatchObject({ ...EXISTS, message });
    await create('two');
    await expect(create('two')).rejects.toMatchObject(EXISTS);
    takeAway(c);
    await expect(create('four')).rejects.toBe(AWAY);
    expect(await a.stores.tags.current('four')).toBeUndefined();
  });

  it('begin above what a deleted tag of the name has issued in any database', async () => {
    for (const [shard, maxId] of [
      [b, 500n],
      [c, 300n],
    ] as const) {
      await shard.stores.tags.createAbove({ tag: 'one', step: 10 });
      await shard.stores.segments.raise('one', maxId);
      await shard.stores.tags.remove('one');
    }
    expect((await create('one')).maxId).toBeGreaterThanOrEqual(500n);
  });

  it('with periods are not created where a deleted one may have rows of periods', async () => {
    const daily: NewTag = { tag: 'one', step: 10, reset: 'daily', zone: 'UTC' };
    await b.stores.tags.createAbove(daily);
    await b.stores.tags.remove('one');
    const message = expect.stringContaining('"b" has a row of it or a record of its deletion') as string;
    await expect(databases.tags.create(daily)).rejects.toMatchObject({ ...EXISTS, message });
    expect(await create('one')).toMatchObject({ maxId: 1n });
  });

  it('are not created while the databases differ from those on record', async () => {
    for (const shard of [a, b, c]) await shard.stores.names.add('d');
    const message = expect.stringContaining('The database "d" has or had tags') as string;
    await expect(create('one')).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE', message });
  });
});

describe('the shares of an interleaved tag', () => {
  const interleave = { of: 3, remainder: 0, block: 100 };
  const tag: NewTag = { tag: 'shared', step: 10, interleave };
  const shares = (): Promise<(number | undefined)[]> =>
    Promise.all([a, b, c].map(async ({ stores }) => (await stores.tags.current('shared'))?.interleave?.remainder));

  it('follow the names of the databases', async () => {
    const { tags } = databases;
    expect(await tags.create(tag)).toMatchObject({ tag: 'shared', interleave: { of: 3, remainder: 1, block: 100 } });
    expect(await shares()).toEqual([0, 1, 2]);
    const exists = { ...EXISTS, message: expect.stringContaining('The tag "shared" already exists.') as string };
    await expect(tags.create(tag)).rejects.toMatchObject(exists);
    expect((await tags.list()).map(({ interleave: share }) => share?.remainder)).toEqual([1]);
  });

  it('are created by another attempt where the first one was interrupted', async () => {
    const { tags } = databases;
    await tags.create(tag);
    await c.stores.tags.remove('shared');
    expect(await tags.create(tag)).toMatchObject({ tag: 'shared' });
    expect(await shares()).toEqual([0, 1, 2]);
  });

  it.each([
    ['of', { of: 4, remainder: 2, block: 100 }],
    ['remainder', { of: 3, remainder: 1, block: 100 }],
    ['block', { of: 3, remainder: 2, block: 200 }],
  ])('are not created beside a row with another %s', async (_, other) => {
    await c.stores.tags.createAbove({ ...tag, interleave: other });
    await expect(databases.tags.create(tag)).rejects.toMatchObject(EXISTS);
  });

  it('are not created beside a plain row', async () => {
    await c.stores.tags.createAbove({ tag: 'shared', step: 10 });
    await expect(databases.tags.create(tag)).rejects.toMatchObject(EXISTS);
  });

  it('are as many as there are databases', async () => {
    const message = 'The tag "shared" cannot be stored: interleave.of must be 3, the number of databases.';
    const created = databases.tags.create({ ...tag, interleave: { ...interleave, of: 2 } });
    await expect(created).rejects.toMatchObject({ code: 'LEAF_BODY_INVALID', message });
    expect(await shares()).toEqual([undefined, undefined, undefined]);
  });

  it('begin above what a deleted tag of the name has issued', async () => {
    const plain = { tag: 'shared', step: 10 };
    await c.stores.tags.createAbove(plain);
    await c.stores.segments.raise('shared', 5000n);
    await c.stores.tags.remove('shared');
    await databases.tags.create(tag);
    const { from } = await databases.segments.allocate('shared', 1);
    expect(from).toBeGreaterThanOrEqual(5000n);
  });

  it('are changed and deleted together', async () => {
    const { tags } = databases;
    await tags.create(tag);
    await tags.change('shared', { step: 30 });
    const steps = await Promise.all([a, b, c].map(async ({ stores }) => (await stores.tags.current('shared'))?.step));
    expect(steps).toEqual([30, 30, 30]);
    await a.stores.tags.remove('shared');
    const message = expect.stringContaining('over 3 databases, but only 2 of the configured ones') as string;
    await expect(tags.remove('shared')).rejects.toMatchObject({ code: 'LEAF_TAG_ROW_INVALID', message });
    await tags.create(tag);
    expect(await tags.remove('shared')).toMatchObject({ step: 30 });
    expect(await shares()).toEqual([undefined, undefined, undefined]);
  });

  it('do not include a plain row of another database', async () => {
    const { tags } = databases;
    await databases.tags.create({ tag: 'one', step: 10 });
    await b.stores.tags.createAbove({ tag: 'one', step: 10 });
    await tags.change('one', { step: 30 });
    expect(await b.stores.tags.current('one')).toMatchObject({ step: 10 });
    await tags.remove('one');
    expect(await b.stores.tags.current('one')).toMatchObject({ step: 10 });
  });
});

describe('the numbers of several databases', () => {
  let numbers: ShardedNumberStore;
  beforeEach(() => (numbers = new ShardedNumberStore(databases.shards, 'a seal' as never)));

  it.each([
    ['settings', []],
    ['carryOut', [{}, [[]]]],
    ['continueAfter', [{ period: '' }]],
    ['find', ['key']],
    ['list', [{ limit: 3 }]],
    ['journal', ['2023', 3, 4]],
    ['linesOf', ['2023', 3n, 4n]],
    ['rowsOf', ['2023', 3n, 4n, 5]],
    ['headOf', ['2023']],
  ] as const)('are asked by %s where their tag is', async (call, more) => {
    const asked = jest.spyOn(b.stores.numbers, call as 'settings').mockResolvedValue('an answer' as never);
    const ask = numbers[call].bind(numbers) as unknown as (...args: unknown[]) => Promise<unknown>;
    expect(await ask('two', ...more)).toBe('an answer');
    expect(asked.mock.calls).toEqual([['two', ...more]]);
    expect(numbers.seal).toBe('a seal');
  });

  it('are issued in a transaction of the caller where their tag is', async () => {
    const asked = jest.spyOn(c.stores.numbers, 'carryOutWithin').mockResolvedValue([]);
    const statement = (): Promise<never> => Promise.reject(new Error('not sent'));
    expect(await numbers.carryOutWithin(statement, 'three', {} as never, [])).toStrictEqual([]);
    expect(asked.mock.calls).toEqual([[statement, 'three', {}, []]]);
  });

  it('are counted in all databases that respond', async () => {
    for (const [tag, { stores }] of [
      ['one', a],
      ['three', c],
    ] as const) {
      jest.spyOn(stores.numbers, 'open').mockResolvedValue([{ tag, count: 1, oldest: 1, lines: 2 }]);
    }
    takeAway(b);
    expect((await numbers.open()).map(({ tag }) => tag)).toEqual(['one', 'three']);
  });
});
