import type { DataSource } from 'typeorm';
import { type IdRange, LeafError, type NewTag, SystemClock } from '@leaf-ids/core';
import { reasonOf } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { openDatabase } from '../../../../libs/persistence/src/database/open-database';
import { parseDatabaseUrl } from '../../../../libs/persistence/src/database/database-url';
import { loadSqlite, type SqliteDriver } from '../../../../libs/persistence/src/dialects/sqlite/sqlite-file';
import { SeededRandom } from '../../../support/seeded-random';
import {
  drawSegments,
  noSegmentFaults,
  type SegmentConditions,
  type SegmentFault,
  type SegmentFaultCounts,
} from './segment-faults';
import { SegmentLedger, type SegmentBreach, type SegmentExcuseCounts } from './segment-ledger';
import { SegmentServer } from './segment-server';
import { SegmentInjector } from './segment-injector';
import { schemaOf, SimEngine } from './sim-engine';

export interface SegmentResult {
  readonly seed: number;
  readonly conditions: SegmentConditions;
  readonly schedule: readonly SegmentFault[];
  readonly ids: number;
  readonly servers: number;
  readonly faults: SegmentFaultCounts;
  readonly excused: SegmentExcuseCounts;
  readonly failure: { readonly breach: SegmentBreach; readonly message: string } | undefined;
}

export interface SegmentOptions {
  /** The faults that happen; left out: all that the seed draws. */
  readonly faults?: readonly SegmentFault[] | undefined;
  /** Breaches of other kinds do not end it. */
  readonly until?: readonly string[] | undefined;
  readonly onNote?: (text: string) => void;
}

/** What every world starts with. */
export interface SegmentEngine {
  readonly Driver: SqliteDriver;
  readonly schema: string;
  readonly entities: DataSource;
}

/** The tables as the product makes them. */
export async function openSegmentEngine(): Promise<SegmentEngine> {
  const events = { onCloseProblem: () => undefined };
  const target = parseDatabaseUrl('sqlite::memory:');
  const database = await openDatabase({ target, migrate: true, ...events }, new SystemClock(), () => 0);
  try {
    const schema = await schemaOf((sql) => database.query(sql));
    return { Driver: await loadSqlite(), schema, entities: database };
  } finally {
    await database.destroy();
  }
}

export function simulateSegments(
  seed: number,
  engine: SegmentEngine,
  options: SegmentOptions = {},
): Promise<SegmentResult> {
  return new SegmentWorld(seed, engine, options).run();
}

/** How long a server may take to issue again after the last fault, in milliseconds. */
const BOUND_MS = 30_000;
const DAY_MS = 86_400_000;
const ZONES = ['UTC', 'Asia/Kathmandu'] as const;

/** Several servers with the shipped stores and generator, over one or several simulated databases. */
export class SegmentWorld {
  readonly clock = new FakeClock();
  readonly random: SeededRandom;
  readonly conditions: SegmentConditions;
  readonly ledger: SegmentLedger;
  /** The last one is in no list before a fault puts it there. */
  readonly engines: readonly SimEngine[];
  readonly servers: SegmentServer[] = [];
  readonly tags: readonly NewTag[];
  readonly schedule: readonly SegmentFault[];
  private started = 0;

  constructor(
    private readonly seed: number,
    { Driver, schema, entities }: SegmentEngine,
    private readonly options: SegmentOptions,
  ) {
    const { conditions, faults } = drawSegments(new SeededRandom(seed ^ 0x2545f491));
    this.conditions = conditions;
    this.schedule = options.faults ?? faults;
    const random = (this.random = new SeededRandom(seed ^ 0x5bd1e995));
    this.ledger = new SegmentLedger(
      () => this.clock.monotonic(),
      options.until,
      (text) => this.note(text()),
    );
    const names = ['a', 'b', 'c', 'd'].slice(0, this.isList ? conditions.databases + 1 : 1);
    this.engines = names.map(
      (name) => new SimEngine(Driver, schema, entities, name, this.clock, this.ledger.committed),
    );
    const step = (): number => 1 + random.below(12);
    const interleave = { of: conditions.databases, remainder: 0, block: conditions.block };
    this.tags = [
      { tag: 'plain', step: step() },
      { tag: 'short', step: step(), max: BigInt(random.pick([5000, 60_000_000])) },
      { tag: 'strict', step: step(), order: 'strict' },
      { tag: 'daily', step: step(), reset: 'daily', zone: random.pick(ZONES) },
      ...(this.isList ? [{ tag: 'spread', step: step(), interleave }] : []),
    ];
    for (let seat = 0; seat < conditions.servers; seat++) this.start(seat);
  }

  get isList(): boolean {
    return this.conditions.databases > 1;
  }

  /** The databases of the list, in its order. */
  get list(): readonly SimEngine[] {
    return this.engines.slice(0, this.conditions.databases);
  }

  async run(): Promise<SegmentResult> {
    const { conditions, schedule, seed, ledger } = this;
    const counts = noSegmentFaults();
    try {
      await this.create();
      const injector = new SegmentInjector(this);
      for (let step = 1; step < conditions.steps && ledger.failure === undefined; step++) {
        injector.prepare(schedule, step);
        for (const fault of schedule.filter(({ at }) => at === step)) {
          this.note(`fault ${JSON.stringify(fault)}`);
          counts[fault.kind]++;
          injector.inject(fault);
        }
        for (const fault of schedule.filter(({ until }) => until === step)) injector.end(fault);
        for (let n = this.random.below(4); n >= 0; n--) this.act();
        await this.clock.advance(this.random.spread(0.5, this.random.pick([20, 20, 400])));
      }
      for (const fault of schedule) injector.end(fault);
      if (ledger.failure === undefined) await this.checkAll(injector);
    } finally {
      for (const server of this.servers) server.kill();
      for (const engine of this.engines) engine.close();
    }
    return {
      ...{ seed, conditions, schedule, ids: ledger.ids, servers: this.started, faults: counts },
      ...{ excused: ledger.excused, failure: ledger.failure },
    };
  }

  /** A new process in the place of the one before. */
  start(seat: number, engines = this.list): void {
    const { clock, random, isList, ledger } = this;
    const { prefetchRatio } = this.conditions;
    const name = `server ${seat}#${++this.started}`;
    this.servers[seat] = new SegmentServer(name, seat, engines, isList, clock, random, prefetchRatio, ledger);
  }

  note(text: string): void {
    this.options.onNote?.(`${this.clock.monotonic().toFixed(1)} ms  ${text}`);
  }

  private async create(): Promise<void> {
    for (const tag of this.tags) await this.within(this.servers[0]!.tags.create(tag));
    for (const server of this.servers) await this.within(server.generator.refresh.run());
  }

  /** Advances the clock until a promise settles. */
  private async within<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const done = (): void => void (state.isSettled = true);
    promise.then(done, done);
    for (let waited = 0; !state.isSettled && waited < BOUND_MS; waited += 50) await this.clock.advance(50);
    if (!state.isSettled) throw new Error('no answer without a fault');
    return promise;
  }

  private act(): void {
    const { random, clock } = this;
    const server = this.servers[random.below(this.servers.length)]!;
    const { generator } = server;
    const names = this.tags.flatMap(({ tag, reset }) => (reset === undefined ? [tag] : []));
    const tag = names[random.below(names.length)]!;
    const bound = this.boundOf(server, tag);
    switch (random.below(9)) {
      case 0:
      case 1: {
        const id = generator.tryNext(tag);
        if (id !== undefined) this.ledger.issued(server, tag, [{ from: id, to: id }], bound);
        break;
      }
      case 2:
        this.ledger.issued(server, tag, generator.tryRanges(tag, 1 + random.below(20)) ?? [], bound);
        break;
      case 3:
      case 4:
      case 5:
        void this.take(server, tag, random.chance(0.5) ? 1 : 1 + random.below(60));
        break;
      case 6:
      case 7: {
        const at = clock.now() + random.pick([0, 0, 0, -DAY_MS, DAY_MS]);
        void this.takeInPeriod(server, 1 + random.below(20), at);
        break;
      }
      case 8:
        void generator.refresh.run();
        break;
    }
  }

  /** @returns whether IDs came */
  async take(server: SegmentServer, tag: string, count: number): Promise<LeafError | undefined> {
    const bound = this.boundOf(server, tag);
    return this.answered(server, tag, bound, () => server.generator.takeRanges(tag, count));
  }

  async takeInPeriod(server: SegmentServer, count: number, at: number): Promise<LeafError | undefined> {
    let key = 'daily';
    let ranges: readonly IdRange[] = [];
    try {
      const answer = await server.generator.takeInPeriod('daily', count, at);
      key = `daily@${answer.period}`;
      ranges = answer.ranges;
    } catch (error) {
      return this.refused(server, key, error);
    }
    if (!server.line.isDead) this.ledger.issued(server, key, ranges, { own: 0n, all: 0n, seat: 0n });
    return undefined;
  }

  private async answered(
    server: SegmentServer,
    key: string,
    bound: ReturnType<SegmentLedger['bound']>,
    call: () => Promise<readonly IdRange[]>,
  ): Promise<LeafError | undefined> {
    try {
      const ranges = await call();
      this.note(`${server.name} answers ${key} ${ranges.map(({ from, to }) => `${from}-${to}`).join(' ')}`);
      if (!server.line.isDead) this.ledger.issued(server, key, ranges, bound);
      return undefined;
    } catch (error) {
      return this.refused(server, key, error);
    }
  }

  private refused(server: SegmentServer, key: string, error: unknown): LeafError {
    this.note(`${server.name} refuses ${key}: ${reasonOf(error)}`);
    if (error instanceof LeafError && error.code !== 'LEAF_INTERNAL') return error;
    this.ledger.breach('segment error', `${server.name} refuses ${key}: ${reasonOf(error)}`);
    return new LeafError('LEAF_INTERNAL', reasonOf(error));
  }

  private boundOf(server: SegmentServer, tag: string): ReturnType<SegmentLedger['bound']> {
    return this.ledger.bound(server, tag, tag === 'strict', tag === 'spread');
  }

  /** After the last fault, every server has to issue every tag. */
  private async checkAll(injector: SegmentInjector): Promise<void> {
    injector.setRight();
    await this.clock.advance(10_000);
    // Again, for a tag that was deleted meanwhile, and whose list of databases did not allow to create it.
    injector.setRight();
    for (const server of this.servers) {
      await this.within(server.generator.refresh.run());
      for (const { tag, reset } of this.tags) {
        const ask = (): Promise<LeafError | undefined> =>
          reset === undefined ? this.take(server, tag, 1) : this.takeInPeriod(server, 1, this.clock.now());
        let refusal = await this.within(ask());
        for (let waited = 0; refusal !== undefined && waited < BOUND_MS; waited += 1000) {
          await this.clock.advance(1000);
          refusal = await this.within(ask());
        }
        if (refusal === undefined || refusal.code === 'LEAF_TAG_EXHAUSTED') continue;
        this.ledger.breach('segment outage', `${server.name} refuses "${tag}" without a fault: ${refusal.message}`);
      }
    }
  }
}
