import {
  type Allocation,
  type Clock,
  LeafError,
  type RandomSource,
  type SegmentStore,
  tagOfRow,
  type TagStore,
} from '@leaf-ids/core';
import { DEFAULT_SEGMENT_OPTIONS, JournalSeal, SegmentIdGenerator } from '@leaf-ids/core/internal';
import type { SqlDatabase } from '../../../../libs/persistence/src/connections/sql-database';
import { SQLITE_GUARD, SQLITE_TAGS, SQLITE_WORKERS } from '../../../../libs/persistence/src/dialects/sqlite/sqlite';
import { SqliteSegmentStore } from '../../../../libs/persistence/src/dialects/sqlite/sqlite-segment-store';
import { FailoverGuard, type GuardDialect } from '../../../../libs/persistence/src/failover/failover-guard';
import { SqlNumberStore } from '../../../../libs/persistence/src/numbers/sql-number-store';
import type { Shard } from '../../../../libs/persistence/src/sharding/shard';
import { ShardedSegmentStore } from '../../../../libs/persistence/src/sharding/sharded-segment-store';
import { ShardedTagStore } from '../../../../libs/persistence/src/sharding/sharded-tag-store';
import { Shards, ShardRouter } from '../../../../libs/persistence/src/sharding/shards';
import { DatabaseNames } from '../../../../libs/persistence/src/stores/database-names';
import { SqlTagStore } from '../../../../libs/persistence/src/stores/sql-tag-store';
import type { SeededRandom } from '../../../support/seeded-random';
import { accessTo, Line } from './sim-connection';
import type { SimEngine } from './sim-engine';

const EXPRESSION = '(SELECT name FROM sim_server)';

/** As that of a database server: a promoted replica has another name. */
const GUARD: GuardDialect = {
  ...SQLITE_GUARD,
  askIdentity: async (statement) => {
    const [row] = await statement<{ server: string }[]>(`SELECT ${EXPRESSION} AS server`);
    return { server: row?.server ?? '', expression: EXPRESSION };
  },
};

/** The largest step: few IDs, so that servers come to the ends of their ranges. */
const MAX_STEP = 40;

/** The shipped stores of one server on one database. */
export interface Stores {
  readonly segments: SqliteSegmentStore;
  readonly tags: SqlTagStore;
  readonly names: DatabaseNames;
  readonly numbers: SqlNumberStore;
  readonly guard: FailoverGuard;
}

export function storesOf(access: SqlDatabase): Stores {
  const failover = { gapSteps: 10, maxStep: MAX_STEP, onFailover: () => undefined };
  const guard = new FailoverGuard(access, GUARD, SQLITE_TAGS, failover);
  const names = new DatabaseNames(access, SQLITE_WORKERS);
  const segments = new SqliteSegmentStore(access, guard, SQLITE_TAGS);
  const rules = { seal: new JournalSeal(), isSynchronous: false, now: () => 0 };
  const numbers = new SqlNumberStore(access, SQLITE_TAGS, guard, rules);
  return { segments, tags: new SqlTagStore(access, SQLITE_TAGS, names), numbers, names, guard };
}

/** Hears what databases have done for a server. */
export interface StoreListener {
  /** Not called for an answer after the end of the tag that asked: the server neither issues nor remembers its range. */
  granted(server: SegmentServer, engine: SimEngine, key: string, sentAt: number, allocation: Allocation): void;
  /** What the server knew of a deleted tag is on record. */
  recorded(server: SegmentServer, key: string): void;
}

/** Shows which object serves a tag: another one, or none, after the tag was dropped. */
class ShownGenerator extends SegmentIdGenerator {
  servedBy(key: string): object | undefined {
    return this.knownAs(tagOfRow(key));
  }
}

/** One life of a server process. */
export class SegmentServer {
  readonly line = new Line();
  readonly generator: ShownGenerator;
  readonly tags: TagStore;
  /** By the name of the database. */
  readonly stores: ReadonlyMap<string, Stores>;

  /**
   * @param seat the number of its host
   * @param engines in the order of the server's list; the only one is used without a list
   * @param isList whether the server has a list of databases
   */
  constructor(
    readonly name: string,
    readonly seat: number,
    readonly engines: readonly SimEngine[],
    isList: boolean,
    private readonly clock: Clock,
    random: SeededRandom,
    prefetchRatio: number,
    private readonly listener: StoreListener,
  ) {
    this.stores = new Map(
      engines.map((engine) => [
        engine.name,
        this.watched(engine, storesOf(accessTo(engine, this.line, clock, random))),
      ]),
    );
    const [only] = this.stores.values();
    const { segments, tags } = isList || only === undefined ? this.sharded() : only;
    this.tags = tags;
    const options = { ...DEFAULT_SEGMENT_OPTIONS, prefetchRatio, durationMs: 200, maxStep: MAX_STEP };
    const events = { onLoadFailed: () => undefined, onRefreshFailed: () => undefined };
    const below: RandomSource = (bound) => random.below(bound);
    this.generator = new ShownGenerator(segments, clock, below, options, events);
  }

  /** Ends at once. Nothing is given back. */
  kill(): void {
    this.line.die();
    this.generator.close().catch(() => undefined);
  }

  private watched(engine: SimEngine, stores: Stores): Stores {
    const { segments } = stores;
    const [allocate, allocateAll] = [segments.allocate.bind(segments), segments.allocateAll.bind(segments)];
    const recordDeleted = segments.recordDeleted.bind(segments);
    const monotonic = (): number => this.clock.monotonic();
    segments.allocate = async (tag, size) => {
      const [sentAt, asker] = [monotonic(), this.generator.servedBy(tag)];
      const allocation = await allocate(tag, size);
      if (this.isServed(tag, asker)) this.listener.granted(this, engine, tag, sentAt, allocation);
      return allocation;
    };
    segments.allocateAll = async (requests) => {
      const sentAt = monotonic();
      const askers = requests.map(({ tag }) => this.generator.servedBy(tag));
      const answers = await allocateAll(requests);
      requests.forEach(({ tag }, index) => {
        const answer = answers[index];
        if (answer === undefined || answer instanceof LeafError) return;
        if (this.isServed(tag, askers[index])) this.listener.granted(this, engine, tag, sentAt, answer);
      });
      return answers;
    };
    segments.recordDeleted = async (tag, nextId) => {
      await recordDeleted(tag, nextId);
      this.listener.recorded(this, tag);
    };
    return stores;
  }

  /** Whether the tag that asked is still there: one that was dropped may have asked in a batch of tags. */
  private isServed(tag: string, asker: object | undefined): boolean {
    return asker !== undefined && this.generator.servedBy(tag) === asker;
  }

  private sharded(): { readonly segments: SegmentStore; readonly tags: TagStore } {
    const all = Array.from(this.stores, ([name, stores]) => shardOf(name, stores));
    const router = new ShardRouter([...this.stores.keys()], {});
    const shards = new Shards(all, router, this.clock, () => undefined, undefined);
    const events = { onShardFailed: () => undefined, onMisplaced: () => undefined };
    return { segments: new ShardedSegmentStore(shards, events), tags: new ShardedTagStore(shards) };
  }
}

/** A database of a list, already open. */
function shardOf(name: string, stores: Stores): Shard {
  const shard: Pick<Shard, keyof Shard> = {
    ...{ name, description: name, created: false, stores, dataSource: undefined },
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    beforeMove: () => Promise.resolve(),
  };
  return shard as Shard;
}
