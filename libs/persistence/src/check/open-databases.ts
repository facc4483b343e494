import { type Clock, LeafError, type RandomSource, tagOfRow } from '@leaf-ids/core';
import { retry } from '@leaf-ids/core/internal';
import { createDatabaseNames, createGuard, createTagRows } from '../database/create-store';
import { parseDatabaseUrl } from '../database/database-url';
import type { LeafDataSource } from '../database/leaf-data-source';
import { openDatabase } from '../database/open-database';
import {
  DEFAULT_FAILOVER_GAP_STEPS,
  type FailoverGuard,
  type FailoverOptions,
  RESTORE_LIMIT_MS,
} from '../failover/failover-guard';
import type { ShardMap } from '../sharding/shards';
import { type DatabaseNames, type RecordedNames, type RosterFaults, rosterFaults } from '../stores/database-names';
import { byTag, type HandedOver, type TagRows } from '../stores/tag-rows';
import { checkDatabases } from './check-databases';

/** Options of the commands that move tags between databases. */
export interface MoveOptions {
  /** All databases of the list. */
  readonly shards: ShardMap;
  /** Database settings that can lose a commit, accepted by name. */
  readonly accept?: readonly string[];
  /** The setting of the servers: see `FailoverOptions`. */
  readonly failoverGapSteps?: number;
  readonly maxStep?: number;
  /** Report what would be done, and change nothing. */
  readonly dryRun: boolean;
}

/** The databases of a list, opened by a command. Close them after use. */
export class OpenDatabases {
  private readonly all = new Map<string, OpenDatabase>();

  private constructor(
    /** What `leaf-server check` reports. */
    readonly problems: readonly string[],
  ) {}

  /** @throws LeafError `LEAF_CONFIG_INVALID` unless all have the tables; `LEAF_DATABASE_UNUSABLE`, `LEAF_STORE_UNAVAILABLE` */
  static async open(options: MoveOptions, clock: Clock, random: RandomSource): Promise<OpenDatabases> {
    const { shards, accept = [], failoverGapSteps = DEFAULT_FAILOVER_GAP_STEPS, maxStep } = options;
    const { databases, problems } = await checkDatabases({ shards, migrate: false }, clock, random);
    if (databases.some(({ state }) => state !== 'ready')) throw notReady(problems);
    const failover = {
      ...{ gapSteps: failoverGapSteps, onFailover: () => undefined },
      ...(maxStep !== undefined && { maxStep }),
    };
    const opened = new OpenDatabases(problems);
    try {
      for (const [name, url] of Object.entries(shards.databases)) {
        const target = parseDatabaseUrl(url);
        const settings = { target, migrate: false, accept, attempts: 1, onCloseProblem: () => undefined };
        const dataSource = await openDatabase(settings, clock, random);
        opened.all.set(name, new OpenDatabase(name, dataSource, failover, clock, random));
      }
      return opened;
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  [Symbol.iterator](): IterableIterator<OpenDatabase> {
    return this.all.values();
  }

  get(name: string): OpenDatabase {
    const found = this.all.get(name);
    if (found === undefined) throw new Error(`the database "${name}" is not open`);
    return found;
  }

  /** The differences between the databases and the names on record, and what is on record in each. */
  async compareNames(): Promise<RosterFaults & { readonly lists: ReadonlyMap<string, RecordedNames> }> {
    const lists = new Map<string, RecordedNames>();
    for (const { name, names } of this) lists.set(name, await names.list());
    return { ...rosterFaults([...this.all.keys()], lists), lists };
  }

  /** Does what a server does before its first allocation. */
  async prepare(): Promise<void> {
    // Also for those that take over: rows with limits in a database without the record of its server are a lost failover.
    for (const { guard } of this) await guard.prepare();
    // In each database its own name first: see Roster.
    for (const { name, names } of this) await names.add(name);
    for (const { names } of this) for (const name of this.all.keys()) await names.add(name);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this].map(({ dataSource }) => dataSource.destroy()));
  }
}

const REPEATED = {
  ...{ firstMs: 20, maxMs: 500, attempts: 6 },
  isRetryable: (error: unknown): boolean => error instanceof LeafError && error.retryable,
};

/** One of the databases of a list. */
export class OpenDatabase {
  readonly names: DatabaseNames;
  readonly guard: FailoverGuard;
  readonly rows: TagRows;

  constructor(
    readonly name: string,
    readonly dataSource: LeafDataSource,
    failover: FailoverOptions,
    private readonly clock: Clock,
    private readonly random: RandomSource,
  ) {
    this.names = createDatabaseNames(dataSource);
    this.guard = createGuard(dataSource, failover);
    this.rows = createTagRows(dataSource);
  }

  /**
   * Hands all tags over, because this database leaves the list, or one tag. One transaction freezes their rows, so that
   * nothing more is allocated from them; before, it moves the tags forward if the database is a promoted replica that no
   * server has used yet. Then each tag is inserted into its new database and deleted here. Meanwhile it is refused.
   *
   * This is repeated until nothing is left: a replica that is promoted meanwhile may lack the frozen rows, and a node of
   * a cluster may have created a tag at the same time. Rows that an earlier call has frozen are handed over first.
   *
   * @returns tag → number of rows
   */
  async handOver(to: (tag: string) => OpenDatabase, tag?: string): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    // A move that is taken back: the frozen rows stay in this database, and so do the others.
    const staysHere = tag !== undefined && to(tag) === this;
    for (let mayFreeze = false; ; mayFreeze = !staysHere) {
      const handedOver = await this.repeated(() => this.freeze(mayFreeze, tag));
      for (const [name, group] of byTag(handedOver)) {
        const { rows } = group;
        if (tag !== undefined && rows.length === 0) continue;
        const owner = to(name);
        await this.repeated(() => owner.rows.takeOver(group));
        await this.repeated(() =>
          tag === undefined || owner === this ? this.rows.forget(rows) : this.rows.handOff(rows, this.guard.gap),
        );
        if (rows.length > 0) counts.set(name, (counts.get(name) ?? 0) + rows.length);
      }
      if ((mayFreeze || staysHere) && handedOver.rows.length === 0) return counts;
    }
  }

  /** What {@link handOver} would move. */
  async wouldHandOver(tag?: string): Promise<ReadonlyMap<string, number>> {
    const frozen = (await this.rows.handedOver(undefined, tag)).rows.map(({ biz_tag }) => biz_tag);
    const counts = new Map<string, number>();
    for (const row of [...(await this.rows.movable(tag)), ...frozen]) {
      counts.set(tagOfRow(row), (counts.get(tagOfRow(row)) ?? 0) + 1);
    }
    return counts;
  }

  /** Under load, MySQL may end the same transaction several times, in favour of allocations. */
  private repeated<T>(act: () => Promise<T>): Promise<T> {
    return retry(act, REPEATED, this.clock, this.random);
  }

  private freeze(mayFreeze: boolean, tag: string | undefined): Promise<HandedOver> {
    return this.dataSource.access.transaction(async (statement) => {
      // No server creates a tag here after this: {@link DatabaseNames.assertNotLeft} waits for it.
      if (tag === undefined) await this.names.mark(this.name, 'left', statement);
      // Before the rows: an allocation of MySQL locks the record of the server, then its row. In the other order, the two
      // end each other, again and again.
      await this.guard.followWithin(statement);
      if (mayFreeze) await this.rows.freeze(statement, tag);
      return this.rows.handedOver(statement, tag);
    }, RESTORE_LIMIT_MS);
  }
}

export function notReady(problems: readonly string[]): LeafError {
  return new LeafError(
    'LEAF_CONFIG_INVALID',
    `Nothing was changed, because leaf-server check reports problems. Fix them first: ${problems.join(' ')}`,
  );
}
