import { InMemorySegmentStore } from '../../../../../test/support/fakes/in-memory-segment-store';
import { SegmentRig } from '../../../../../test/support/fakes/segment-rig';
import { watch } from '../../../../../test/support/watch';
import { FakeClock } from '../../clock/fake-clock';
import { LeafError } from '../../errors/leaf-error';
import { idsOf } from '../tags/id-range';
import { periodRow } from '../tags/periods';
import { SegmentIdGenerator } from '../segment-id-generator';
import { DEFAULT_SEGMENT_OPTIONS } from '../allocation/segment-options';
import { PLAIN_TAG, type TagKind } from '../tags/tag-settings';

const DAILY: TagKind = { ...PLAIN_TAG, reset: 'daily', zone: 'Europe/Berlin' };
const HOUR_MS = 3_600_000;
/** A minute before midnight in Berlin. */
const EVE = Date.parse('2026-11-22T22:59:00Z');
const MIDNIGHT = EVE + 60_000;

class Server {
  readonly clock: FakeClock;
  readonly store: InMemorySegmentStore;
  readonly generator: SegmentIdGenerator;

  constructor(base: InMemorySegmentStore, now: number) {
    this.clock = new FakeClock(now);
    this.store = new InMemorySegmentStore(base.rows, base.deleted);
    const ignore = (): void => undefined;
    const events = { onLoadFailed: ignore, onRefreshFailed: ignore };
    this.generator = new SegmentIdGenerator(this.store, this.clock, () => 0, DEFAULT_SEGMENT_OPTIONS, events);
  }

  async take(count = 1, at?: number): Promise<{ period: string; numbers: bigint[] }> {
    const { period, ranges } = await this.generator.takeInPeriod('invoice', count, at);
    return { period, numbers: idsOf(ranges) };
  }
}

let base: InMemorySegmentStore;
let server: Server;

beforeEach(() => {
  base = new InMemorySegmentStore();
  base.rows.set('invoice', { maxId: 1n, step: 10, kind: DAILY });
  server = new Server(base, EVE);
});

it('opens the next period of other tags when the row of one is invalid', async () => {
  const tags = ['a', 'b', 'c', 'd', 'e', 'invoice'];
  for (const tag of tags) base.rows.set(tag, { maxId: 1n, step: 10, kind: DAILY });
  for (const tag of tags) await server.generator.takeInPeriod(tag, 1);
  const begin = server.store.beginPeriod.bind(server.store);
  jest.spyOn(server.store, 'beginPeriod').mockImplementation((tag, ...rest) => {
    if (tag === 'invoice') return begin(tag, ...rest);
    return Promise.reject(new LeafError('LEAF_TAG_ROW_INVALID', `The row of tag "${tag}" is invalid.`));
  });
  await server.generator.refresh.run();
  expect(base.rows.has(periodRow('invoice', '2026-11-23'))).toBe(true);
  expect(server.generator.refresh.snapshot().lastError).toContain('is invalid');
});

describe('a tag that restarts each day', () => {
  it('asks the store after the calls of the same turn: a burst of them must not use up its time', async () => {
    await server.generator.refresh.run();
    const calls = Array.from({ length: 1000 }, () => watch(server.take()));
    expect(server.store.count('beginPeriod')).toBe(0);
    server.clock.pause(5000);
    await server.clock.advance(0);
    expect(calls.map(({ value }) => value?.numbers[0])).toEqual(idsOf([{ from: 1n, to: 1000n }]));
  });

  it('counts each day separately, in its time zone', async () => {
    expect(await server.take()).toEqual({ period: '2026-11-22', numbers: [1n] });
    expect(await server.take(2)).toEqual({ period: '2026-11-22', numbers: [2n, 3n] });
    server.clock.step(60_000);
    expect(await server.take()).toEqual({ period: '2026-11-23', numbers: [1n] });
    expect(await server.take(1, EVE)).toEqual({ period: '2026-11-22', numbers: [4n] });
    server.clock.step(-1);
    expect(await server.take()).toEqual({ period: '2026-11-22', numbers: [5n] });
  });

  it('sends no more statements than other tags', async () => {
    for (let i = 0; i < 100; i++) await server.take();
    expect(server.store.count('beginPeriod')).toBe(1);
    expect(server.store.count('findTag')).toBe(1);
    expect(server.store.count('allocate')).toBeLessThan(15);
  });

  it('opens a period although the database fails once', async () => {
    await server.take();
    server.store.failNext(1);
    const taken = watch(server.take(1, MIDNIGHT));
    while (!taken.settled) await server.clock.advance(10);
    expect(taken.value).toEqual({ period: '2026-11-23', numbers: [1n] });
  });

  it('opens a period once for concurrent calls', async () => {
    const taken = await Promise.all(Array.from({ length: 50 }, () => server.take()));
    expect(server.store.count('beginPeriod')).toBe(1);
    expect(taken.flatMap(({ numbers }) => numbers).sort(ascending)).toEqual(idsOf([{ from: 1n, to: 50n }]));
  });

  it('never issues a number as an ID', async () => {
    await server.take(5);
    const refused = { code: 'LEAF_TAG_PERIODIC', message: expect.stringContaining('/api/segment/period/invoice') };
    await expect(server.generator.next('invoice')).rejects.toMatchObject(refused);
    await expect(server.generator.takeRanges('invoice', 5)).rejects.toMatchObject(refused);
    for (const name of ['invoice', 'invoice@2026-11-22']) {
      expect(server.generator.tryNext(name)).toBeUndefined();
      expect(server.generator.tryRanges(name, 1)).toBeUndefined();
    }
    await expect(server.generator.next('invoice@2026-11-22')).rejects.toMatchObject({ code: 'LEAF_TAG_INVALID' });
    await server.generator.refresh.run();
    await expect(server.generator.next('invoice')).rejects.toMatchObject(refused);
  });

  it('refuses a tag without periods', async () => {
    base.put('order', 1n, 10);
    const refused = { code: 'LEAF_TAG_NOT_PERIODIC' };
    await expect(server.generator.takeInPeriod('order', 1)).rejects.toMatchObject(refused);
    await server.generator.next('order');
    await expect(server.generator.takeInPeriod('order', 1)).rejects.toMatchObject(refused);
    await expect(server.generator.takeInPeriod('nobody', 1)).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    await expect(server.generator.takeInPeriod('a b', 1)).rejects.toMatchObject({ code: 'LEAF_TAG_INVALID' });
  });

  it('creates no rows for dates too far from now', async () => {
    for (const days of [-401, 3, 100_000]) {
      await expect(server.take(1, EVE + days * 24 * HOUR_MS)).rejects.toMatchObject({ code: 'LEAF_PERIOD_INVALID' });
    }
    expect(server.store.count('beginPeriod')).toBe(0);
  });

  it('ends the buffers of days that have passed, and gives their rest back', async () => {
    await server.take();
    server.clock.step(12 * HOUR_MS);
    await server.take();
    expect(base.maxId('invoice@2026-11-22')).toBe(11n);
    await server.generator.refresh.run();
    expect(base.maxId('invoice@2026-11-22')).toBe(11n);
    await server.clock.advance(HOUR_MS / 2);
    await server.take();
    await server.clock.advance(HOUR_MS / 2);
    await server.generator.refresh.run();
    expect(base.maxId('invoice@2026-11-22')).toBe(2n);
    expect(base.maxId('invoice@2026-11-23')).toBeGreaterThan(3n);
    expect(server.generator.issued).toBe(3);
    expect(await server.take(1, EVE)).toMatchObject({ numbers: [2n] });
    expect(server.generator.issued).toBe(4);
  });

  it('opens the next day before it starts, if the tag is in use', async () => {
    await server.generator.refresh.run();
    expect(base.maxId('invoice@2026-11-23')).toBeUndefined();
    await server.take();
    await server.generator.refresh.run();
    expect(base.maxId('invoice@2026-11-23')).toBe(11n);
    server.store.breakDown();
    server.clock.step(60_000);
    expect(await server.take()).toEqual({ period: '2026-11-23', numbers: [1n] });
  });

  it('recreates a missing row above all issued numbers', async () => {
    await server.take(7);
    base.rows.delete('invoice@2026-11-22');
    const taken = await Promise.all(Array.from({ length: 30 }, () => server.take()));
    const numbers = taken.flatMap((each) => each.numbers).sort(ascending);
    expect(numbers).toEqual([...new Set(numbers)]);
    expect(numbers[0]).toBe(8n);
    expect(base.rows.has('invoice@2026-11-22')).toBe(true);
  });

  it('pauses and resumes with all its periods', async () => {
    expect(await server.generator.pause('invoice')).toBe(true);
    await expect(server.take()).rejects.toMatchObject({ code: 'LEAF_TAG_PAUSED' });
    expect(await server.generator.pause('invoice')).toBe(false);
    expect(server.generator.pausedTags()).toEqual(['invoice']);
    expect(await server.generator.resume('invoice')).toBe(true);
    expect(await server.take()).toMatchObject({ numbers: [1n] });
  });

  it('appears as one tag, with its newest period', async () => {
    await server.generator.refresh.run();
    expect(server.generator.snapshotOf('invoice')).toMatchObject({ tag: 'invoice', issued: 0, period: undefined });
    const before = server.generator.revisionOf('invoice')!;
    await server.take(1, EVE);
    await server.take(2, MIDNIGHT);
    expect(server.generator.revisionOf('invoice')).toBeGreaterThan(before);
    expect(server.generator.snapshotOf('invoice')).toMatchObject({ tag: 'invoice', issued: 3, period: '2026-11-23' });
    const seen: unknown[] = [];
    await server.generator.survey((...figures) => seen.push(figures.slice(0, 2)));
    server.generator.visit((...figures) => seen.push(figures.slice(0, 2)));
    server.generator.visitOne('invoice', (...figures) => seen.push(figures.slice(0, 2)));
    expect(seen).toEqual(Array.from({ length: 3 }, () => ['invoice', 3]));
    expect([server.generator.tagCount, server.generator.issued]).toEqual([1, 3]);
    expect(server.generator.snapshot()).toMatchObject([{ tag: 'invoice' }]);
  });

  it('is refused when the tag is gone, and when the server stops', async () => {
    await server.take();
    base.rows.delete('invoice');
    await server.generator.refresh.run();
    await expect(server.take()).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    expect(server.generator.tagCount).toBe(0);
    await server.generator.close();
    await expect(server.take()).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
  });

  it('replaces a tag that was deleted and created again with another kind', async () => {
    await server.take();
    base.rows.set('invoice', { maxId: 1n, step: 10, kind: { ...DAILY, reset: 'monthly' } });
    await server.generator.refresh.run();
    expect(await server.take()).toEqual({ period: '2026-11', numbers: [1n] });
    base.rows.set('invoice', { maxId: 1n, step: 10, kind: PLAIN_TAG });
    await server.generator.refresh.run();
    expect(await server.generator.next('invoice')).toBe(1n);
    base.rows.set('invoice', { maxId: 11n, step: 10, kind: DAILY });
    await server.generator.refresh.run();
    await expect(server.generator.next('invoice')).rejects.toMatchObject({ code: 'LEAF_TAG_PERIODIC' });
    expect(await server.take()).toMatchObject({ period: '2026-11-22' });
  });

  it('respects the wait limit if the store does not respond', async () => {
    await server.generator.refresh.run();
    server.store.hold();
    const call = watch(server.take());
    await server.clock.advance(DEFAULT_SEGMENT_OPTIONS.waitMs);
    expect(call.code).toBe('LEAF_SEGMENT_UNAVAILABLE');
    server.store.release();
    expect(await server.take()).toMatchObject({ numbers: [1n] });
  });
});

describe('servers across the end of a period', () => {
  it('issue every number of both days once, regardless of their clocks', async () => {
    const servers = [-7, 0, 12].map((ms) => new Server(base, MIDNIGHT - 40 + ms));
    const given = new Map<string, bigint[]>();
    const note = ({ period, numbers }: Awaited<ReturnType<Server['take']>>): void => {
      given.set(period, [...(given.get(period) ?? []), ...numbers]);
    };
    for (let ms = 0; ms < 80; ms++) {
      const calls = servers.flatMap((each, index) => [each.take(), each.take(1 + ((ms + index) % 7)), each.take()]);
      // Late calls, and a clock that steps back across midnight.
      if (ms % 5 === 0) calls.push(servers[ms % 3]!.take(2, EVE));
      if (ms === 60) servers[0]!.clock.step(-30);
      (await Promise.all(calls)).forEach(note);
      for (const { clock } of servers) await clock.advance(1);
    }
    for (const { generator } of servers) await generator.close();
    expect([...given.keys()].sort()).toEqual(['2026-11-22', '2026-11-23']);
    for (const [period, numbers] of given) {
      const highest = base.maxId(`invoice@${period}`)! - 1n;
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(numbers.length).toBeGreaterThan(300);
      // The missing numbers were buffered and could not be returned, because other servers had allocated above them.
      expect(Number(highest) - numbers.length).toBeLessThanOrEqual(buffered(servers.length));
    }
  });
});

it('the only server of a period leaves no gap when it stops', async () => {
  const rig = new SegmentRig();
  rig.store.rows.set('invoice', { maxId: 1n, step: 10, kind: { ...DAILY, zone: 'UTC' } });
  const generator = rig.generator();
  const { period } = await generator.takeInPeriod('invoice', 1);
  await generator.takeInPeriod('invoice', 33);
  await rig.settle();
  await generator.close();
  expect(rig.store.maxId(`invoice@${period}`)).toBe(35n);
});

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}

/** Two segments each; each load at most doubles the dynamic step. */
function buffered(servers: number): number {
  return servers * 2 * 640;
}
