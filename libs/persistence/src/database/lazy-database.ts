import { type Clock, LeafError, type RandomSource } from '@leaf-ids/core';
import type { Dialect } from '../dialects/dialect';
import { DIALECTS } from '../dialects/dialects';
import type { DatabaseTarget } from './database-url';
import type { LeafDataSource } from './leaf-data-source';
import { isNotUpYet, openDatabase, type OpenDatabaseOptions } from './open-database';

/** Enough for another server that is changing the schema to be done. */
const ATTEMPTS = 5;

/** The database of a worker registry, opened when it is first needed, by somebody who can wait for it to come up. */
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
   * The open database.
   *
   * @throws LeafError `LEAF_STORE_UNAVAILABLE` while it is not up, then the next call tries again; or
   *   `LEAF_DATABASE_UNUSABLE`
   */
  open(): Promise<LeafDataSource> {
    const { signal } = this.closing;
    if (signal.aborted) return Promise.reject(signal.reason as LeafError);
    this.opening ??= this.tryOpen();
    return this.opening;
  }

  /** Ends the wait for a database that is not up; an open one closes within its own time limit. */
  async close(): Promise<void> {
    this.closing.abort(new LeafError('LEAF_STORE_UNAVAILABLE', 'This server is stopping.'));
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
