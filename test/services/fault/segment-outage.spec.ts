import { setImmediate as turn } from 'node:timers/promises';
import { type Allocation, type IdRange, SegmentStore, type TagEntry } from '@leaf-ids/core';
import {
  DEFAULT_SEGMENT_OPTIONS,
  SegmentIdGenerator,
  type SegmentOptions,
  systemRandom,
} from '@leaf-ids/core/internal';
import { createSegmentStore, parseDatabaseUrl } from '@leaf-ids/persistence';
import { clock, connectAsServer, FAILOVER, sqlFixture } from '../../support/contract/sql-stores';
import type { SegmentStoreFixture } from '../../support/contract/segment-store.contract';
import { closeAll } from '../../support/close-all';
import { codeOf } from '../../support/servers/failover-world';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import type { PrivateServer } from '../../support/servers/private-server';
import { stopwatch } from '../../support/starvation';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const TAG = 't';
const STEP = 1000;
const WAIT_MS = 300;
/** Half a second beyond the wait is promised, without what processes wait for a processor. */
const REFUSAL_LIMIT_MS = WAIT_MS + 500;
const RECOVERY_LIMIT_MS = 60_000;
const CALLERS = 100;

/** Counts concurrent allocations. */
class WatchedStore extends SegmentStore {
  most = 0;
  started = 0;
  onStarted: () => void = () => undefined;
  private running = 0;

  constructor(private readonly inner: SegmentStore) {
    super();
  }

  get description(): string {
    return this.inner.description;
  }

  listTags(): Promise<TagEntry[]> {
    return this.inner.listTags();
  }

  findTag(tag: string): Promise<TagEntry | undefined> {
    return this.inner.findTag(tag);
  }

  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    this.started++;
    this.most = Math.max(this.most, ++this.running);
    try {
      const answer = this.inner.allocate(tag, size);
      this.onStarted();
      return await answer;
    } finally {
      this.running--;
    }
  }

  giveBack(tag: string, range: IdRange): Promise<boolean> {
    return this.inner.giveBack(tag, range);
  }

  raise(tag: string, minimum: bigint): Promise<void> {
    return this.inner.raise(tag, minimum);
  }

  beginPeriod(...period: Parameters<SegmentStore['beginPeriod']>): Promise<void> {
    return this.inner.beginPeriod(...period);
  }

  recordDeleted(tag: string, nextId: bigint): Promise<void> {
    return this.inner.recordDeleted(tag, nextId);
  }
}

interface Outage {
  readonly server: PrivateServer;
  readonly proxy: TcpProxy;
  /** Connected through the proxy. */
  readonly store: WatchedStore;
  /** Connected without the proxy. */
  readonly direct: SegmentStoreFixture;
}

interface Fault {
  readonly name: string;
  readonly begin: (world: Outage) => unknown;
  readonly end: (world: Outage) => unknown;
}

const FAULTS: readonly Fault[] = [
  { name: 'is blackholed', begin: ({ proxy }) => proxy.blackhole(), end: ({ proxy }) => proxy.heal() },
  { name: 'is killed', begin: ({ server }) => server.kill(), end: ({ server }) => server.restart() },
  { name: 'refuses connections', begin: ({ proxy }) => proxy.refuse(), end: ({ proxy }) => proxy.heal() },
];

/** What the test opened; closed in reverse order. */
const opened: (() => unknown)[] = [];
/** Ends the fault if a test fails before it does so itself. */
let repair: () => Promise<void> = () => Promise.resolve();

afterEach(async () => {
  await repair();
  await closeAll(opened);
});

async function makeWorld(server: PrivateServer, step: number): Promise<Outage> {
  const url = await server.createDatabase();
  const direct = await sqlFixture(url, () => Promise.resolve());
  opened.push(() => direct.close());
  await direct.putRow(TAG, 1n, step);
  const proxy = await TcpProxy.start(server.port);
  opened.push(() => proxy.stop());
  const target = parseDatabaseUrl(url.replace(`:${server.port}/`, `:${proxy.port}/`));
  repair = async () => {
    proxy.heal();
    if (server.pid === 0) await server.restart();
  };
  const dataSource = await connectAsServer(target);
  opened.push(() => dataSource.destroy());
  return { server, proxy, store: new WatchedStore(createSegmentStore(dataSource, FAILOVER)), direct };
}

function makeGenerator(store: SegmentStore, options: Partial<SegmentOptions> = {}): SegmentIdGenerator {
  const all = { ...DEFAULT_SEGMENT_OPTIONS, waitMs: WAIT_MS, maxStep: STEP, ...options };
  const ignore = (): void => undefined;
  const generator = new SegmentIdGenerator(store, clock, systemRandom, all, {
    onLoadFailed: ignore,
    onRefreshFailed: ignore,
  });
  opened.push(() => generator.close());
  return generator;
}

function stateOf(generator: SegmentIdGenerator): ReturnType<SegmentIdGenerator['snapshot']>[number] {
  return generator.snapshot()[0]!;
}

function buffered(generator: SegmentIdGenerator): number {
  const { current, next, spare } = stateOf(generator);
  return [current, next, ...spare].reduce((sum, view) => sum + (view ? Number(view.to - view.position) + 1 : 0), 0);
}

/** Repeats `call` until it succeeds: a busy machine can exceed the short wait limit of these generators. */
function eventually<T>(call: () => Promise<T>): Promise<T> {
  const look = (): Promise<T | undefined> => call().catch((error: unknown) => void codeOf(error));
  return until('an answer', look, RECOVERY_LIMIT_MS);
}

/** The next ID, once the generator has recovered. */
function recovered(generator: SegmentIdGenerator): Promise<bigint> {
  return eventually(() => generator.next(TAG));
}

function ranges(generator: SegmentIdGenerator, count: number): Promise<IdRange[]> {
  return eventually(() => generator.takeRanges(TAG, count));
}

/** Takes the IDs of three segments one by one; ends in the middle of a segment. */
async function takeMany(generator: SegmentIdGenerator): Promise<bigint[]> {
  const ids: bigint[] = [];
  while (ids.length < 2.5 * STEP) ids.push(await recovered(generator));
  return ids;
}

function single(id: bigint): IdRange {
  return { from: id, to: id };
}

/** The positions where `ranges` do not ascend strictly. */
function notAscending(ranges: readonly IdRange[]): IdRange[][] {
  const pairs = ranges.slice(1).map((range, index) => [ranges[index]!, range]);
  return pairs.filter(([before, after]) => before!.to >= after!.from);
}

function givenTwice(ranges: readonly IdRange[]): IdRange[][] {
  return notAscending([...ranges].sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0)));
}

describe.each([
  { database: 'MariaDB', start: (): Promise<PrivateServer> => startMariadb() },
  { database: 'PostgreSQL', start: (): Promise<PrivateServer> => startPostgres() },
])('segment mode on $database', ({ start }) => {
  let server: PrivateServer;
  beforeAll(async () => (server = await start()));
  afterAll(() => server.stop());

  it.each(FAULTS)('serves what is buffered when the database $name, then refuses, then recovers', async (fault) => {
    const world = await makeWorld(server, STEP);
    const generator = makeGenerator(world.store);
    const ids = await takeMany(generator);
    // At most a current and a next segment are buffered.
    await until('next segment', () => !stateOf(generator).loading && stateOf(generator).next !== undefined);

    await fault.begin(world);
    const left = buffered(generator);
    expect(left).toBeGreaterThan(STEP);
    for (let taken = 0; taken < left; taken++) ids.push(generator.tryNext(TAG)!);
    expect(ids).not.toContain(undefined);
    expect(generator.tryNext(TAG)).toBeUndefined();

    const failuresBefore = stateOf(generator).failures;
    // Until the store has failed twice, with the pause between the attempts.
    await until('two failed tries', async () => {
      const call = (caller: number): Promise<unknown> =>
        caller % 2 === 0 ? generator.next(TAG) : generator.takeRanges(TAG, caller);
      const callers = Array.from({ length: CALLERS }, (_, caller) => caller);
      const time = stopwatch();
      const codes = await Promise.all(callers.map((caller) => call(caller).then(String, codeOf)));
      expect(time()).toBeLessThan(REFUSAL_LIMIT_MS);
      expect(new Set(codes)).toEqual(new Set(['LEAF_SEGMENT_UNAVAILABLE']));
      return stateOf(generator).failures >= failuresBefore + 2;
    });

    await fault.end(world);
    ids.push(await recovered(generator));
    ids.push(...(await takeMany(generator)));
    expect(notAscending(ids.map(single))).toStrictEqual([]);
    expect(world.store.most).toBe(1);
  });

  it('gives no ID twice when connections are cut under load', async () => {
    const { proxy, store } = await makeWorld(server, STEP);
    const generator = makeGenerator(store);
    const given: IdRange[] = [single(await recovered(generator))];
    let cuts = 0;
    // Slow enough that the connection is cut between the statement and its reply.
    proxy.delay(5);
    store.onStarted = () => {
      if (store.started % 5 === 0) setImmediate(() => (cuts += proxy.cut()));
    };
    const caller = async (_: unknown, index: number): Promise<void> => {
      for (let call = 0; call < 10; call++) {
        try {
          if ((index + call) % 2 === 0) given.push(single(await generator.next(TAG)));
          else given.push(...(await generator.takeRanges(TAG, 1 + index * call)));
        } catch (error) {
          expect(codeOf(error)).toMatch(/^LEAF_/);
        }
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    expect(cuts).toBeGreaterThan(0);
    // A call whose connection was cut continues on another connection.
    expect(stateOf(generator).failures).toBeLessThan(cuts);

    store.onStarted = () => undefined;
    proxy.heal();
    given.push(single(await recovered(generator)));
    given.push(...(await takeMany(generator)).map(single));
    expect(givenTwice(given)).toStrictEqual([]);
    expect(store.most).toBe(1);
  });

  it.each(['lost', 'late'] as const)('gives a range whose answer is %s to nobody else', async (answer) => {
    const { proxy, store, direct } = await makeWorld(server, STEP);
    const generator = makeGenerator(store);
    const other = makeGenerator(direct.store);
    const given: IdRange[] = [single(await recovered(generator))];
    // Records the size, so that the next statement is the allocation itself.
    given.push(...(await ranges(generator, 6 * STEP)));
    await until('next segment', () => !stateOf(generator).loading);
    const end = await direct.readMaxId(TAG);

    proxy.blackhole('answers');
    const refused = generator.takeRanges(TAG, 5 * STEP).catch(codeOf);
    const newEnd = await until('statement carried out', async () => {
      const now = await direct.readMaxId(TAG);
      return now > end && now;
    });
    expect(await refused).toBe('LEAF_SEGMENT_UNAVAILABLE');
    // The IDs buffered before are available again, and stay so when the statement fails.
    for (let taken = 0; taken < 10; taken++) given.push(single(generator.tryNext(TAG)!));
    if (answer === 'lost') {
      proxy.cut();
      await until('failure seen', () => stateOf(generator).failures > 0);
    }
    given.push(...(await takeMany(other)).map(single));

    proxy.heal();
    given.push(single(await recovered(generator)));
    const both = await Promise.all([takeMany(generator), takeMany(other), ranges(generator, 3 * STEP)]);
    given.push(...both[0].map(single), ...both[1].map(single), ...both[2]);
    expect(givenTwice(given)).toStrictEqual([]);
    if (answer === 'lost') expect(given.filter(({ from, to }) => to >= end && from < newEnd)).toStrictEqual([]);
  });

  it('lets no call wait for a slow database while IDs are buffered', async () => {
    // So large that half a segment outlasts a load, at one ID a turn of the event loop.
    const step = 10_000_000;
    const { proxy, store } = await makeWorld(server, step);
    const generator = makeGenerator(store, { prefetchRatio: 0.5 });
    let last = await recovered(generator);
    proxy.delay(200);
    let waits = 0;
    let unordered = 0;
    const note = ({ from, to }: IdRange): void => {
      if (from <= last) unordered++;
      last = to;
    };
    while (stateOf(generator).loads < 4) {
      if (!stateOf(generator).loading) {
        const ranges = await Promise.race([generator.takeRanges(TAG, step / 100), turn(undefined)]);
        if (ranges === undefined) waits++;
        ranges?.forEach(note);
      }
      const id = generator.tryNext(TAG);
      if (id === undefined) waits++;
      else note(single(id));
      await turn();
    }
    expect({ waits, unordered }).toEqual({ waits: 0, unordered: 0 });
    expect(stateOf(generator).lastLoadMs).toBeGreaterThanOrEqual(200);
    expect(store.most).toBe(1);
    proxy.heal();
  });
});
