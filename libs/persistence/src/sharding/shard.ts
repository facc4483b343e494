import { type Clock, LeafError, type RandomSource, type SegmentStore } from '@leaf-ids/core';
import { messageOf, type NumberStore, retry, withinDeadline } from '@leaf-ids/core/internal';
import { createDatabaseNames, createStores, createTagStore, type NumberOptions } from '../database/create-store';
import type { FailoverOptions } from '../failover/failover-guard';
import type { LeafDataSource } from '../database/leaf-data-source';
import { openDatabase, type OpenDatabaseOptions } from '../database/open-database';
import type { DatabaseNames } from '../stores/database-names';
import type { SqlTagStore } from '../stores/sql-tag-store';

export interface ShardOptions extends Omit<OpenDatabaseOptions, 'signal'> {
  readonly name: string;
  readonly failover: FailoverOptions;
  readonly numbers?: NumberOptions;
  /** Called when the database could not be opened; the shard retries. */
  readonly onOpenFailed: (error: unknown) => void;
}

interface OpenShard {
  readonly dataSource: LeafDataSource;
  readonly segments: SegmentStore;
  readonly numbers: NumberStore;
  readonly tags: SqlTagStore;
  readonly names: DatabaseNames;
}

const REOPEN = { firstMs: 1000, maxMs: 10_000, attempts: Infinity, isRetryable: () => true };
/** Time limit for closing a database, in milliseconds. */
const CLOSE_LIMIT_MS = 2000;

/** One of several databases. If it is down when the server starts, its tags are unavailable until it is up. */
export class Shard {
  private held: OpenShard | undefined;
  /** Whether this server created the tables. */
  created = false;
  /** See {@link FailoverOptions.beforeMove}. */
  beforeMove = (): Promise<void> => Promise.resolve();
  private problem: unknown;
  private opening: Promise<void> | undefined;
  private readonly closing = new AbortController();

  constructor(
    private readonly options: ShardOptions,
    private readonly clock: Clock,
    private readonly random: RandomSource,
  ) {}

  get name(): string {
    return this.options.name;
  }

  get description(): string {
    return this.options.target.description;
  }

  /**
   * Opens the database. After a failure, it retries in the background until the database is open.
   *
   * @throws LeafError why the first attempt failed
   */
  start(): Promise<void> {
    const first = this.tryOpen();
    const signal = this.closing.signal;
    const again = (): Promise<void> => retry(() => this.tryOpen(), { ...REOPEN, signal }, this.clock, this.random);
    this.opening = first.catch(() => again()).catch(() => undefined);
    return first;
  }

  /** Undefined while the database is not open. */
  get dataSource(): LeafDataSource | undefined {
    return this.held?.dataSource;
  }

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` while the database is not open */
  get stores(): Omit<OpenShard, 'dataSource'> {
    if (this.held !== undefined) return this.held;
    throw new LeafError(
      'LEAF_STORE_UNAVAILABLE',
      `The database "${this.name}" has not been reachable since this server started. The server retries by itself; check that the database is up.`,
      {
        cause: new Error(`${this.description}: ${this.problem === undefined ? 'not open' : messageOf(this.problem)}`),
        retryAfterMs: 1000,
      },
    );
  }

  /** Closes the connections. Call after the components that write to the database have stopped. */
  async close(): Promise<void> {
    this.closing.abort();
    if (this.opening !== undefined) {
      await withinDeadline(this.opening, this.clock.monotonic() + CLOSE_LIMIT_MS, this.clock);
    }
    await this.held?.dataSource.destroy();
  }

  private async tryOpen(): Promise<void> {
    const { signal } = this.closing;
    const { onRetry, onCreated, ...options } = this.options;
    // After the first attempt, `onOpenFailed` alone reports failures.
    const listener = this.problem === undefined && onRetry !== undefined ? { onRetry } : {};
    const created = (): void => {
      this.created = true;
      onCreated?.();
    };
    try {
      const dataSource = await openDatabase(
        { ...options, ...listener, onCreated: created, signal },
        this.clock,
        this.random,
      );
      if (signal.aborted) {
        await dataSource.destroy();
        return;
      }
      dataSource.makeReadOnly();
      const failover = { ...this.options.failover, beforeMove: () => this.beforeMove() };
      const { segments, numbers } = createStores(dataSource, failover, this.options.numbers ?? {}, this.clock);
      const names = createDatabaseNames(dataSource);
      this.held = { dataSource, segments, numbers, tags: createTagStore(dataSource), names };
    } catch (error) {
      this.problem = error;
      if (!signal.aborted) this.options.onOpenFailed(error);
      throw error;
    }
  }
}
