import { FakeClock } from '../clock/fake-clock';
import type { LeafErrorCode } from '../errors/error-catalogue';
import { LeafError } from '../errors/leaf-error';
import { DEFAULT_LAYOUT } from '../snowflake/bit-layout';
import { InMemoryIdService } from './in-memory-id-service';

const refusedWith = (code: LeafErrorCode): unknown => expect.objectContaining({ name: 'LeafError', code });

describe('InMemoryIdService', () => {
  it('returns the same IDs in every instance', async () => {
    for (const ids of [new InMemoryIdService(), new InMemoryIdService()]) {
      expect(await ids.nextIds('order', 3)).toEqual([1n, 2n, 3n]);
      expect(await ids.nextId('invoice')).toBe(1n);
      expect(await ids.nextIdString('invoice')).toBe('2');
      expect(ids.tryNext('order')).toBe(4n);
      expect(ids.snowflakeString()).toBe('1724551110456246272');
      expect(ids.decode(ids.snowflake())).toEqual({ timestamp: 1_700_000_000_000, workerId: 0, sequence: 1 });
      expect(await ids.snowflakeStrings(2)).toEqual(['1724551110456246274', '1724551110456246275']);
    }
  });

  it('issues numbers up to 2^53 - 1, and refuses to issue larger ones', async () => {
    const ids = new InMemoryIdService({ tags: ['order', { tag: 'invoice', maxId: BigInt(Number.MAX_SAFE_INTEGER) }] });
    expect(await ids.nextNumbers('order', 2)).toEqual([1, 2]);
    expect([ids.tryNextNumber('order'), await ids.nextNumber('order')]).toEqual([3, 4]);
    expect(await ids.nextNumber('invoice')).toBe(Number.MAX_SAFE_INTEGER);
    expect(ids.tryNextNumber('invoice')).toBeUndefined();
    expect(ids.tryNext('invoice')).toBe(2n ** 53n);
    await expect(ids.nextNumber('invoice')).rejects.toEqual(refusedWith('LEAF_ID_TOO_LARGE'));
    await expect(ids.nextNumbers('invoice', 2)).rejects.toEqual(refusedWith('LEAF_ID_TOO_LARGE'));
    ids.fail('LEAF_SEGMENT_UNAVAILABLE');
    expect(ids.tryNextNumber('order')).toBeUndefined();
    await expect(ids.nextNumber('order')).rejects.toEqual(refusedWith('LEAF_SEGMENT_UNAVAILABLE'));
  });

  it('has the declared tags only, if there are any', async () => {
    const ids = new InMemoryIdService({ tags: ['order', { tag: 'invoice', maxId: 1001n, max: 1002n }] });
    expect(await ids.nextId('invoice')).toBe(1001n);
    await expect(ids.nextIds('invoice', 2)).rejects.toEqual(refusedWith('LEAF_TAG_EXHAUSTED'));
    expect(ids.tryNext('invoice')).toBe(1002n);
    expect(ids.tryNext('invoice')).toBeUndefined();
    await expect(ids.nextId('parcel')).rejects.toEqual(refusedWith('LEAF_TAG_NOT_FOUND'));
    expect(ids.tryNext('parcel')).toBeUndefined();
    expect(() => new InMemoryIdService({ tags: ['no tag'] })).toThrow(refusedWith('LEAF_TAG_INVALID') as Error);
    expect(() => new InMemoryIdService({ tags: [{ tag: 'order', step: 0 }] })).toThrow('step');
  });

  it.each<[object, string]>([
    [{ workerId: 5000 }, 'workerId must be a whole number from 0 to 1023, not 5000'],
    [
      { workerId: 2, layout: { ...DEFAULT_LAYOUT, workerBits: 1 } },
      'workerId must be a whole number from 0 to 1, not 2',
    ],
    [{ tag: ['order'] }, 'tag is not an option; did you mean tags?'],
    [{ tags: 'order' }, 'tags must be an array, not "order"'],
    [{ clock: 5 }, 'clock must be a Clock, not 5'],
  ])('refuses the options %j', (options, fault) => {
    const message = `The options of InMemoryIdService are invalid:\n  - ${fault}`;
    const refused = expect.objectContaining({ code: 'LEAF_CONFIG_INVALID', message }) as Error;
    expect(() => new InMemoryIdService(options)).toThrow(refused);
  });

  it('ends a range with each step, as a database does', async () => {
    const ids = new InMemoryIdService({ tags: [{ tag: 'order', step: 10, maxId: 5n }] });
    await ids.nextId('order');
    expect(await ids.nextRanges('order', 20)).toEqual([
      { from: 6n, to: 14n },
      { from: 15n, to: 24n },
      { from: 25n, to: 25n },
    ]);
  });

  it('issues no ID of a strict tag without waiting', async () => {
    const ids = new InMemoryIdService({ tags: [{ tag: 'order', order: 'strict' }] });
    expect(ids.tryNext('order')).toBeUndefined();
    expect(await ids.nextId('order')).toBe(1n);
  });

  it('counts in each period of the time zone of the tag', async () => {
    const clock = new FakeClock(Date.parse('2026-11-30T23:30:00Z'));
    const ids = new InMemoryIdService({
      clock,
      tags: ['order', { tag: 'invoice', reset: 'monthly', zone: 'Europe/Berlin' }],
    });
    expect(await ids.nextInPeriod('invoice')).toEqual({ period: '2026-12', number: 1n });
    expect(await ids.nextInPeriod('invoice', new Date('2026-11-22'))).toEqual({ period: '2026-11', number: 1n });
    expect(await ids.nextRangesInPeriod('invoice', 2)).toEqual({ period: '2026-12', ranges: [{ from: 2n, to: 3n }] });
    await clock.advance(31 * 86_400_000);
    expect(await ids.nextInPeriod('invoice')).toEqual({ period: '2027-01', number: 1n });
    await expect(ids.nextInPeriod('invoice', new Date(0))).rejects.toEqual(refusedWith('LEAF_PERIOD_INVALID'));
    await expect(ids.nextInPeriod('order')).rejects.toEqual(refusedWith('LEAF_TAG_NOT_PERIODIC'));
    await expect(ids.nextId('invoice')).rejects.toEqual(refusedWith('LEAF_TAG_PERIODIC'));
    expect(ids.tryNext('invoice')).toBeUndefined();
  });

  it('issues ascending snowflake IDs while its clock stands still or steps back', async () => {
    const clock = new FakeClock();
    const ids = new InMemoryIdService({ clock, workerId: 7 });
    const taken = await ids.snowflakes(5000);
    clock.step(-1000);
    taken.push(ids.snowflake());
    await clock.advance(2000);
    taken.push(ids.snowflake());
    expect(taken).toEqual([...new Set(taken)].sort((a, b) => (a < b ? -1 : 1)));
    expect(ids.decode(taken[4999]!)).toEqual({ timestamp: 1_700_000_000_001, workerId: 7, sequence: 903 });
    expect(ids.decode(taken.at(-1)!)).toEqual({ timestamp: clock.now(), workerId: 7, sequence: 0 });
  });

  it('fails as often as a test wants, for the calls that it names', async () => {
    const ids = new InMemoryIdService();
    const down = new LeafError('LEAF_STORE_UNAVAILABLE', 'The database is down.', { retryAfterMs: 50 });
    ids.fail(down, { tag: 'order', times: 2 });
    expect(ids.tryNext('order')).toBeUndefined();
    await expect(ids.nextId('order')).rejects.toBe(down);
    await expect(ids.nextRanges('order', 5)).rejects.toBe(down);
    expect(await ids.nextId('order')).toBe(1n);
    expect(await ids.nextId('invoice')).toBe(1n);

    ids.fail('LEAF_LEASE_EXPIRED', { mode: 'snowflake' });
    expect(() => ids.snowflake()).toThrow(refusedWith('LEAF_LEASE_EXPIRED') as Error);
    expect([ids.trySnowflake(), ids.trySnowflakeString()]).toEqual([undefined, undefined]);
    await expect(ids.snowflakes(2)).rejects.toMatchObject({ retryable: true, retryAfterMs: 1000 });
    expect(await ids.nextId('order')).toBe(2n);
    ids.recover();
    expect(ids.trySnowflakeString()).toBe('1724551110456246272');
  });

  it('starts again after a reset', async () => {
    const ids = new InMemoryIdService();
    const first = [await ids.nextId('order'), ids.snowflake()];
    ids.fail('LEAF_NOT_READY');
    await expect(ids.nextId('order')).rejects.toEqual(refusedWith('LEAF_NOT_READY'));
    ids.reset();
    expect([await ids.nextId('order'), ids.snowflake()]).toEqual(first);
  });
});
