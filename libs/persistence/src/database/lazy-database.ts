import { type Clock, LeafError, type RandomSource } from '@leaf-ids/core';
import type { Dialect } from '../dialects/dialect';
import { DIALECTS } from '../dialects/dialects';
import type { DatabaseTarget } from './database-url';
import type { LeafDataSource } from './leaf-data-source';
import { isNotUpYet, openDatabase, type OpenDatabaseOptions } from './open-database';

/** Enough for another server to finish changing the schema. */
const ATTEMPTS = 5;

/** The database of a worker registry, opened on first use. */
export class LazyDatabase {
  private opening: Promise<LeafDataSource> | undefined;
  private readonly closing = new AbortController();

  constructor(
    private readonly options: Omit<OpenDatabaseOptions, 'attempts' | 'signal'>,
    private readonly clock: Clock,
    private readonly random: RandomSource,
  ) {}

  get dialect(): Dialect {
    return DIALECTS[this.target.dialect];
  }

  get target(): DatabaseTarget {
    return this.options.target;
  }

  /**
   * Opens the database; later calls join the first.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` while the database is down: the next call tries again; or
   *   `LEAF_DATABASE_UNUSABLE`
   */
  open(): Promise<LeafDataSource> {
    const { signal } = this.closing;
    if (signal.aborted) return Promise.reject(signal.reason as LeafError);
    this.opening ??= this.tryOpen();
    return this.opening;
  }

  /** Aborts opening, or closes the open database within its time limit. */
  async close(): Promise<void> {
    this.closing.abort(new LeafError('LEAF_STORE_UNAVAILABLE', 'Leaf is stopping.'));
    const dataSource = await this.opening?.catch(() => undefined);
    await dataSource?.destroy();
  }

  private async tryOpen(): Promise<LeafDataSource> {
    const { signal } = this.closing;
    try {
      return await openDatabase(
        { ...this.options, hasTags: false, attempts: ATTEMPTS, signal },
        this.clock,
        this.random,
      );
    } catch (error) {
      this.opening = undefined;
      if (!(error instanceof LeafError) || !isNotUpYet(error.cause, this.dialect)) throw error;
      throw new LeafError('LEAF_STORE_UNAVAILABLE', error.message, { cause: error.cause, retryAfterMs: 1000 });
    }
  }
}
