import type { DataSource } from 'typeorm';
import {
  type Allocation,
  type Clock,
  type IdRange,
  LeafError,
  messageOf,
  SegmentStore,
  settledBefore,
} from '@leaf/core';
import { databaseFault, type DatabaseFault } from './database-faults';

export interface AllocRow {
  /** Decimal: JavaScript numbers are exact to 2^53 only. */
  readonly max_id: string;
  readonly step: number;
}

export type SqlParameter = string | bigint | null;

/** Tries of a statement that the database rolled back by itself. */
const ATTEMPTS = 3;

/** What the stores on SQL databases have in common; each dialect writes its own statements. */
export abstract class SqlSegmentStore extends SegmentStore {
  constructor(
    private readonly dataSource: DataSource,
    readonly description: string,
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {
    super();
  }

  /** The row of exactly this tag. */
  protected abstract row(tag: string): Promise<AllocRow | undefined>;

  async hasTag(tag: string): Promise<boolean> {
    return (await this.row(tag)) !== undefined;
  }

  async listTags(): Promise<string[]> {
    const rows = await this.run<{ biz_tag: string }[]>('SELECT biz_tag FROM leaf_alloc', []);
    return rows.map(({ biz_tag }) => biz_tag);
  }

  abstract override allocate(tag: string, size: number | undefined): Promise<Allocation>;
  abstract override giveBack(tag: string, range: IdRange): Promise<boolean>;
  abstract override raise(tag: string, minimum: bigint): Promise<void>;

  /** Why an allocation found no row to change. */
  protected async refusal(tag: string, size: number | undefined): Promise<LeafError> {
    const row = await this.row(tag);
    if (row === undefined) return unknownTag(tag);
    if (row.step < 1 || BigInt(row.max_id) < 1n) {
      return new LeafError(
        'LEAF_TAG_ROW_INVALID',
        `The row of tag "${tag}" in leaf_alloc has max_id ${row.max_id} and step ${row.step}. Set both to 1 or more.`,
      );
    }
    return new LeafError(
      'LEAF_TAG_EXHAUSTED',
      `Tag "${tag}" is at ${row.max_id}: ${size ?? row.step} more IDs would pass 2^63 - 1. Start a new tag.`,
    );
  }

  protected async run<Result>(sql: string, parameters: SqlParameter[]): Promise<Result> {
    const deadline = this.clock.monotonic() + this.limitMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.answer(this.dataSource.query<Result>(sql, parameters), deadline);
      } catch (error) {
        const fault = databaseFault(error);
        if (fault?.again !== 'soon' || attempt === ATTEMPTS) throw this.unavailable(error, fault);
      }
    }
  }

  /** The limits of the drivers leave out the wait for a free connection of the pool. */
  private async answer<Result>(query: Promise<Result>, deadline: number): Promise<Result> {
    if (await settledBefore(query, deadline, this.clock)) return query;
    throw new Error(`no answer within ${this.limitMs} ms; a statement that was sent counts as carried out`);
  }

  private unavailable(error: unknown, fault: DatabaseFault | undefined): LeafError {
    const hint = fault === undefined ? '' : ` (${fault.hint})`;
    return new LeafError(
      'LEAF_STORE_UNAVAILABLE',
      'The database of the segments failed; the log of this server says how. It goes on by itself when the database answers.',
      {
        cause: new Error(`${this.description}: ${messageOf(error)}${hint}`, { cause: error }),
        retryAfterMs: 1000,
      },
    );
  }
}

export function unknownTag(tag: string): LeafError {
  return new LeafError(
    'LEAF_TAG_NOT_FOUND',
    `There is no tag "${tag}". Create its row in leaf_alloc first; it is found within a second.`,
  );
}
