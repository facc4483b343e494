import { setTimeout as sleep } from 'node:timers/promises';
import { type Allocation, type IdRange, LeafError, MAX_RANGE_SIZE, type SegmentStore } from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, SegmentIdGenerator, systemRandom } from '@leaf-ids/core/internal';
import {
  createSegmentStore,
  createTagStore,
  type LeafDataSource,
  openDatabase,
  parseDatabaseUrl,
} from '@leaf-ids/persistence';
import { DEFAULT_LIMITS } from '../../libs/persistence/src/connections/connection-source';
import { clock, PATIENT } from '../support/contract/sql-stores';
import { countTwice } from '../support/issued-ids';
import { until } from '../support/until';
import { Observer, type ObserverOptions } from './observer';

export const LOSS_TAG = 't';
const STEP = 100;
const OPTIONS = { ...DEFAULT_SEGMENT_OPTIONS, waitMs: 300, maxStep: 400 };
const PAUSE_MS = 5;
/** After a loss, the new servers issue in about this many calls what was lost. */
const CALLS = 200;
const RECOVERY_LIMIT_MS = 180_000;

export interface LossOptions extends ObserverOptions {
  /** Settings that the servers of Leaf accept although they can lose commits. */
  readonly accept?: readonly string[];
  /** The failover gap; 10 by default. */
  readonly gapSteps?: number;
  /** Number of IDs of each call; several, up to half of the step, by default. */
  readonly size?: number;
}

/** What a fault has cost. */
export interface LossCount {
  /** Rows of the observers: those that the database has confirmed, and those of them that are gone. */
  readonly rows: number;
  readonly rowsLost: number;
  /** Confirmed allocations of Leaf that the database does not know of, and the IDs by which the row went back. */
  readonly updatesLost: number;
  readonly idsBack: number;
}

export interface LossResult extends LossCount {
  readonly ids: number;
  readonly duplicates: number;
  readonly refused: number;
  /** Messages of the failover guard. */
  readonly moves: readonly string[];
}

/** A server of Leaf in this process: segment mode on one node. */
class LeafServer {
  readonly given: IdRange[] = [];
  readonly answered: Allocation[] = [];
  refused = 0;
  lastRefusal = '';
  private ending = false;
  private readonly done: Promise<void>;
  private readonly generator: SegmentIdGenerator;

  constructor(
    store: SegmentStore,
    private readonly database: LeafDataSource,
    private readonly size: number | undefined,
  ) {
    const allocate = store.allocate.bind(store);
    store.allocate = async (tag, count) => {
      const allocation = await allocate(tag, count);
      this.answered.push(allocation);
      return allocation;
    };
    const ignore = (): void => undefined;
    const events = { onLoadFailed: ignore, onRefreshFailed: ignore };
    this.generator = new SegmentIdGenerator(store, clock, systemRandom, OPTIONS, events);
    this.done = this.serve();
  }

  get count(): number {
    return this.given.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);
  }

  /** As a crash: unused IDs do not return. */
  async crash(): Promise<void> {
    this.ending = true;
    await this.done;
    await this.database.destroy();
  }

  private async serve(): Promise<void> {
    for (let turn = 0; !this.ending; turn++) {
      try {
        this.given.push(...(await this.generator.takeRanges(LOSS_TAG, this.size ?? 1 + ((turn * 7) % (STEP / 2)))));
        await sleep(PAUSE_MS);
      } catch (error) {
        if (!(error instanceof LeafError)) throw error;
        this.refused++;
        this.lastRefusal = reasonOf(error);
        await sleep(4 * PAUSE_MS);
      }
    }
  }
}

/** The messages of an error and of its causes. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.message} < ${reasonOf(error.cause)}` : '';
}

/** One tag in a database of several nodes, the servers of Leaf that use it, and observers that use it as well. */
export class LossWorld {
  private readonly all: LeafServer[] = [];
  private running: LeafServer[] = [];
  private readonly observers: Observer[] = [];
  private readonly moves: string[] = [];
  private counted: LossCount | undefined;

  private constructor(
    private readonly urls: readonly string[],
    private readonly options: LossOptions,
  ) {}

  /** With one server of Leaf and one observer for each URL. */
  static async start(urls: readonly string[], options: LossOptions = {}): Promise<LossWorld> {
    const world = new LossWorld(urls, options);
    const [first = ''] = urls;
    const database = await world.open(first, true);
    await createTagStore(database).create({ tag: LOSS_TAG, step: STEP });
    await database.destroy();
    await Observer.prepare(first);
    for (const url of urls) await world.replicated(url);
    await world.serve(urls, options.size);
    for (const [writer, url] of urls.entries()) world.observers.push(new Observer(url, writer, options));
    await world.progress(urls.map((_, index) => index));
    return world;
  }

  /** Resolves when the servers and observers of these nodes have had more answers. */
  async progress(nodes: readonly number[], answers = 20): Promise<void> {
    const counts = (): number[] =>
      nodes.flatMap((node) => [this.running[node]?.answered.length ?? 0, this.observers[node]?.confirmed.length ?? 0]);
    const before = counts();
    await until(
      `answers of the nodes ${nodes.join(', ')}`,
      () => counts().every((count, index) => count >= before[index]! + answers),
      RECOVERY_LIMIT_MS,
    );
  }

  /** Confirmed rows so far. */
  get confirmed(): number {
    return this.observers.reduce((sum, { confirmed }) => sum + confirmed.length, 0);
  }

  /** Resolves when servers of Leaf have been refused more often. */
  async refusals(calls = 5): Promise<void> {
    const count = (): number => this.running.reduce((sum, { refused }) => sum + refused, 0);
    const wanted = count() + calls;
    await until(`${calls} refusals`, () => count() >= wanted, RECOVERY_LIMIT_MS);
  }

  /** The servers of Leaf and the observers die, as with the machines that they share with the database. */
  async crash(): Promise<void> {
    const observers = this.observers.map((observer) => observer.stop());
    await Promise.all([...this.running.splice(0).map((server) => server.crash()), ...observers]);
  }

  /** Counts what the database at `url` does not know of. Call it before a server of Leaf uses it again. */
  async count(url: string): Promise<LossCount> {
    const answered = this.all.flatMap((server) => server.answered);
    const highest = answered.reduce((end, { to }) => (to > end ? to : end), 0n);
    const maxId = await this.maxId(url);
    let rowsLost = 0;
    for (const observer of this.observers) rowsLost += await observer.lostAt(url);
    const back = highest + 1n - maxId;
    this.counted = {
      rows: this.confirmed,
      rowsLost,
      updatesLost: answered.filter(({ to }) => to >= maxId).length,
      idsBack: Number(back > 0n ? back : 0n),
    };
    return this.counted;
  }

  /** New servers of Leaf start; resolves when they have issued more IDs than the row went back by. */
  async goOn(urls: readonly string[] = this.urls): Promise<void> {
    const wanted = (this.counted?.idsBack ?? 0) + 20 * STEP;
    await this.serve(urls, Math.min(Math.ceil(wanted / CALLS), MAX_RANGE_SIZE));
    const servers = [...this.running];
    const issued = (): number => servers.reduce((sum, { count }) => sum + count, 0);
    await until(`${wanted} IDs`, () => issued() >= wanted, RECOVERY_LIMIT_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}; last refusals: ${servers.map(({ lastRefusal }) => lastRefusal).join('; ')}`);
    });
  }

  /** Ends everything, and counts; what is not counted yet, at the first node. */
  async end(): Promise<LossResult> {
    await this.crash();
    const counted = this.counted ?? (await this.count(this.urls[0] ?? ''));
    const given = this.all.flatMap((server) => server.given);
    const refused = [...this.all, ...this.observers].reduce((sum, each) => sum + each.refused, 0);
    const ids = this.all.reduce((sum, { count }) => sum + count, 0);
    return { ...counted, ids, duplicates: countTwice(given), refused, moves: this.moves };
  }

  private async serve(urls: readonly string[], size?: number): Promise<void> {
    const { gapSteps = 10 } = this.options;
    for (const url of urls) {
      const database = await this.open(url, false);
      const store = createSegmentStore(database, { gapSteps, onFailover: (message) => this.moves.push(message) });
      const server = new LeafServer(store, database, size);
      this.all.push(server);
      this.running.push(server);
    }
  }

  /** Resolves when the node has the schema and the tag: one node of a cluster may be behind another. */
  private async replicated(url: string): Promise<void> {
    await until(`the tag at ${url}`, () =>
      this.maxId(url).then(
        (maxId) => maxId > 0n,
        () => false,
      ),
    );
  }

  private async maxId(url: string): Promise<bigint> {
    const database = await this.open(url, false);
    try {
      const sql = `SELECT CAST(max_id AS CHAR(20)) AS max_id FROM leaf_alloc WHERE biz_tag = '${LOSS_TAG}'`;
      const [row] = await database.query<{ max_id: string }[]>(sql);
      return BigInt(row?.max_id.trim() ?? 0);
    } finally {
      await database.destroy();
    }
  }

  private open(url: string, migrate: boolean): Promise<LeafDataSource> {
    const options = {
      target: parseDatabaseUrl(url),
      migrate,
      accept: this.options.accept ?? [],
      onCloseProblem: (): void => undefined,
      limits: migrate ? PATIENT : { ...DEFAULT_LIMITS, closeMs: PATIENT.closeMs },
    };
    return openDatabase(options, clock, systemRandom);
  }
}
