import { setTimeout as sleep } from 'node:timers/promises';
import { type Allocation, type IdRange, LeafError, type SegmentStore } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, SegmentIdGenerator, systemRandom } from '@leaf-ids/core/internal';
import { createSegmentStore, type DatabaseTarget, parseDatabaseUrl } from '@leaf-ids/persistence';
import { countTwice } from '../issued-ids';
import { clock, connect, sqlFixture } from '../contract/sql-stores';
import type { PrivateServer } from './private-server';
import { TcpProxy } from '../http/tcp-proxy';
import { until } from '../until';

const TAG = 't';
export const STEP = 100;
export const GAP_STEPS = 10;
/** The dynamic step is above the step of the row, and reaches its maximum in each round. */
export const OPTIONS = { ...DEFAULT_SEGMENT_OPTIONS, waitMs: 300, maxStep: 4 * STEP };
const CALLERS = 4;
const RECOVERY_LIMIT_MS = 60_000;

/** All allocations of a world pass it: it limits how many begin, and records their results. */
export class Valve {
  readonly answered: IdRange[] = [];
  private left = Infinity;
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private spent: () => void = () => undefined;

  /** Stops new allocations; resolves when the pending ones are done. */
  async close(): Promise<void> {
    this.left = 0;
    await until('end of the allocations under way', () => this.running === 0);
  }

  /** Allows `count` allocations; resolves when the last one begins. */
  allow(count: number): Promise<void> {
    this.left = count;
    for (const wake of this.waiting.splice(0)) wake();
    return new Promise((resolve) => (this.spent = resolve));
  }

  open(): void {
    void this.allow(Infinity);
  }

  /** Whether all allowed allocations are done. */
  get exhausted(): boolean {
    return this.left === 0 && this.running === 0;
  }

  /** In front of `store` from now on. */
  guard(store: SegmentStore): SegmentStore {
    const allocate = store.allocate.bind(store);
    store.allocate = (tag, size) => this.pass(() => allocate(tag, size));
    return store;
  }

  private async pass(allocate: () => Promise<Allocation>): Promise<Allocation> {
    while (this.left === 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.running++;
    if (--this.left === 0) this.spent();
    try {
      const allocation = await allocate();
      this.answered.push(allocation);
      return allocation;
    } finally {
      this.running--;
    }
  }
}

/** A Leaf server that reaches the database only through the proxy. */
export class Instance {
  /** What it gave, in the order in which it was received; what follows on is one range. */
  readonly given: { from: bigint; to: bigint }[] = [];
  /** Number of calls that were refused temporarily. */
  refused = 0;
  private ended: Promise<void> | undefined;
  private readonly callers: Promise<void>[] = [];

  constructor(
    readonly generator: SegmentIdGenerator,
    private readonly disconnect: () => Promise<void>,
  ) {}

  get count(): number {
    return this.given.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);
  }

  get loads(): number {
    return this.generator.snapshot()[0]?.loads ?? 0;
  }

  load(): this {
    for (let caller = 0; caller < CALLERS; caller++) this.callers.push(this.call(caller));
    return this;
  }

  get highest(): bigint {
    return this.given.at(-1)?.to ?? 0n;
  }

  /** Takes IDs one by one until `done`. Ignores refusals, because a busy machine can exceed the wait limit. */
  async takeUntil(done: () => boolean): Promise<void> {
    const deadline = performance.now() + RECOVERY_LIMIT_MS;
    while (!done()) {
      const refusal = await this.takeOne();
      if (refusal === undefined) continue;
      if (performance.now() > deadline) throw new Error(`Still refused after ${RECOVERY_LIMIT_MS} ms: ${refusal}`);
      await sleep(20);
    }
  }

  /** Takes ranges of `size` until `done`. Ignores refusals. */
  async takeRangesUntil(size: number, done: () => boolean): Promise<void> {
    while (!done()) {
      try {
        this.note(await this.generator.takeRanges(TAG, size));
      } catch (error) {
        codeOf(error);
        await sleep(20);
      }
    }
  }

  /** Takes all buffered IDs. Allocations must have stopped. */
  async drain(): Promise<void> {
    while ((await this.takeOne()) === undefined);
  }

  /** Stops as a server does: returns unused IDs if the database accepts them. */
  stop(): Promise<void> {
    this.ended ??= this.end();
    return this.ended;
  }

  private async end(): Promise<void> {
    await this.generator.close().catch(codeOf);
    await Promise.all(this.callers);
    await this.disconnect();
  }

  /** @returns why there was none */
  private takeOne(): Promise<string | undefined> {
    return this.next().catch(codeOf);
  }

  private async next(): Promise<undefined> {
    const id = await this.generator.next(TAG);
    this.note([{ from: id, to: id }]);
  }

  private async call(caller: number): Promise<void> {
    for (let round = caller; this.ended === undefined; round++) {
      try {
        if (round % 2 === 0) await this.next();
        else this.note(await this.generator.takeRanges(TAG, 1 + ((round * 7) % (STEP / 2))));
        await sleep(1);
      } catch (error) {
        this.refused++;
        expect(codeOf(error)).toMatch(/^LEAF_(SEGMENT_UNAVAILABLE|STORE_UNAVAILABLE|STORE_BACKWARDS|NOT_READY)$/);
        await sleep(20);
      }
    }
  }

  private note(ranges: readonly IdRange[]): void {
    for (const { from, to } of ranges) {
      const last = this.given.at(-1);
      if (last !== undefined && last.to + 1n === from) last.to = to;
      else this.given.push({ from, to });
    }
  }
}

export function codeOf(error: unknown): string {
  if (error instanceof LeafError) return error.code;
  throw error;
}

/** One database behind a proxy, and the servers that use it. */
export class FailoverWorld {
  readonly valve = new Valve();
  readonly instances: Instance[] = [];
  /** Messages of the guard. */
  readonly failovers: string[] = [];
  updatesLost = 0;
  slowestMs = 0;

  private constructor(
    readonly proxy: TcpProxy,
    private readonly url: string,
    private readonly opened: (() => unknown)[],
  ) {}

  /** @param opened what is to be called at the end, last one first, gets what the world opens */
  static async make(server: PrivateServer, opened: (() => unknown)[]): Promise<FailoverWorld> {
    const url = await server.createDatabase();
    const fixture = await sqlFixture(url, () => Promise.resolve());
    await fixture.putRow(TAG, 1n, STEP);
    await fixture.close();
    const proxy = await TcpProxy.start(server.port);
    opened.push(() => proxy.stop());
    return new FailoverWorld(proxy, url, opened);
  }

  /** A server with its own `valve` is not limited by the others. */
  async addInstance(valve = this.valve, options = OPTIONS): Promise<Instance> {
    const target = this.target(this.proxy.port);
    const dataSource = await connect(target, false);
    const store = createSegmentStore(dataSource, {
      gapSteps: GAP_STEPS,
      onFailover: (message) => this.failovers.push(message),
    });
    const ignore = (): void => undefined;
    const events = { onLoadFailed: ignore, onRefreshFailed: ignore };
    const generator = new SegmentIdGenerator(valve.guard(store), clock, systemRandom, options, events);
    const instance = new Instance(generator, () => dataSource.destroy());
    this.instances.push(instance);
    this.opened.push(() => {
      this.valve.open();
      return instance.stop();
    });
    return instance;
  }

  async addLoad(count: number): Promise<Instance[]> {
    const added: Instance[] = [];
    while (added.length < count) added.push((await this.addInstance()).load());
    return added;
  }

  async maxId(port: number): Promise<bigint> {
    const dataSource = await connect(this.target(port), false);
    const sql = `SELECT CAST(max_id AS CHAR(20)) AS max_id FROM leaf_alloc WHERE biz_tag = '${TAG}'`;
    const [row] = await dataSource.query<{ max_id: string }[]>(sql);
    await dataSource.destroy();
    return BigInt(row!.max_id);
  }

  /** Counts what the server at `port` does not know of. */
  async countLost(port: number): Promise<number> {
    // Servers that reach it already may allocate more once its row is read.
    const answered = [...this.valve.answered];
    const maxId = await this.maxId(port);
    const lost = answered.filter(({ to }) => to >= maxId).length;
    this.updatesLost += lost;
    return lost;
  }

  /** Each of `instances` allocates anew, `loads` times. */
  async serving(instances: readonly Instance[], loads = 1): Promise<void> {
    const wanted = instances.map((instance) => instance.loads + loads);
    const done = (): boolean => instances.every((instance, index) => instance.loads >= wanted[index]!);
    await until('new segments', done, RECOVERY_LIMIT_MS);
  }

  /** All that was open goes on at `port`, and serves again. */
  async goOn(port: number, instances: readonly Instance[]): Promise<void> {
    this.proxy.retarget(port);
    const begun = performance.now();
    await this.serving(instances);
    this.slowestMs = Math.max(this.slowestMs, performance.now() - begun);
  }

  /** Stops all servers, and checks every issued ID. */
  async check(rounds: number): Promise<void> {
    for (const instance of this.instances) await instance.stop();
    const found = countTwice(this.instances.flatMap(({ given }) => given));
    const ids = this.instances.reduce((sum, { count }) => sum + count, 0);
    const recovery = this.slowestMs > 0 ? `; new segments within ${Math.round(this.slowestMs)} ms` : '';
    process.stdout.write(
      `${expect.getState().currentTestName}: ${rounds} rounds, ${ids} IDs checked, ${this.updatesLost} updates lost, ` +
        `${found} duplicates${recovery}\n`,
    );
    expect(ids).toBeGreaterThan(rounds * STEP);
    expect(found).toBe(0);
  }

  private target(port: number): DatabaseTarget {
    return parseDatabaseUrl(this.url.replace(/:\d+\//, `:${port}/`));
  }
}
