import { LeafError } from '@leaf-ids/core';
import type { SelectQueryBuilder } from 'typeorm';
import type { SqlDatabase, SqlParameter } from '../connections/sql-database';
import { NO_PERIOD } from '../failover/move-forward';
import { LeafAlloc } from './stored-tag';
import type { TagDialect } from './tag-dialect';

/**
 * Reads tags through the repository of {@link LeafAlloc}, outside of transactions. The rows are plain objects, not instances of the class:
 * TypeORM takes longer to make one than the database to read it.
 *
 * @typeParam Name the columns that it reads
 */
export class AllocReads<Name extends keyof LeafAlloc> {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: TagDialect,
    private readonly columns: readonly Name[],
  ) {}

  /** @throws LeafError `LEAF_STORE_UNAVAILABLE` */
  async find(tag: string): Promise<Pick<LeafAlloc, Name> | undefined> {
    const { thisTag, key } = this.dialect;
    const [row] = await this.read((query) => query.where(...named(thisTag, key(tag))));
    return row;
  }

  /**
   * The first tags by name, or the first ones after a tag; not the rows of periods.
   *
   * @param nameOf an expression for the name that decides on the order
   * @throws LeafError `LEAF_STORE_UNAVAILABLE`
   */
  page(after: string | undefined, size: number, nameOf = unchanged): Promise<Pick<LeafAlloc, Name>[]> {
    const name = nameOf('biz_tag');
    return this.read((query) => {
      const first = query.where(NO_PERIOD).orderBy(name).limit(size);
      return after === undefined ? first : first.andWhere(`${name} > ${nameOf(':after')}`, { after });
    });
  }

  private read(
    pick: (query: SelectQueryBuilder<LeafAlloc>) => SelectQueryBuilder<LeafAlloc>,
  ): Promise<Pick<LeafAlloc, Name>[]> {
    return this.database.read((manager) => {
      const query = manager.getRepository(LeafAlloc).createQueryBuilder('leaf_alloc').select([]);
      for (const name of this.columns) query.addSelect(`leaf_alloc.${name}`, name);
      return pick(query).getRawMany<Pick<LeafAlloc, Name>>();
    });
  }
}

function unchanged(name: string): string {
  return name;
}

/** A condition with the parameters that a query of TypeORM takes. */
function named(condition: string, values: readonly SqlParameter[]): [string, Record<string, SqlParameter>] {
  let count = 0;
  const sql = condition.replaceAll('?', () => `:value${count++}`);
  return [sql, Object.fromEntries(values.map((value, index) => [`value${index}`, value]))];
}

/** Reads under way at once. Allocations have the other connections of the pool. */
const WIDTH = 2;
/** Callers that wait for their read; those who come after them are refused. */
const MAX_WAITING = 100;

interface WaitingRead {
  readonly start: () => void;
  readonly result: Promise<unknown>;
}

/**
 * Limits how many reads of tags run at once, so that any number of readers leaves connections for allocations. Equal
 * reads that wait share one query; a read that was sent already may be older than the caller's last change, and is not
 * shared.
 */
export class TagReads {
  private readonly width: number;
  /** Waiting reads by key, in the order in which they are started. */
  private readonly queue = new Map<string, WaitingRead>();
  private running = 0;
  private waiting = 0;

  /** @param connections of the pool that the reads share with allocations */
  constructor(connections: number) {
    this.width = Math.max(1, Math.min(WIDTH, connections - 1));
  }

  /**
   * @param key equal for reads that have the same result
   * @throws LeafError `LEAF_OVERLOADED` when too many callers wait; what `read` throws
   */
  async run<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
    if (this.running < this.width) return this.execute(read);
    if (this.waiting >= MAX_WAITING) {
      throw new LeafError('LEAF_OVERLOADED', 'Too many reads of tags wait for the database. Try again later.', {
        retryAfterMs: 1000,
      });
    }
    this.waiting++;
    try {
      const queued = this.queue.get(key) ?? this.enqueue(key, read);
      return (await queued.result) as Result;
    } finally {
      this.waiting--;
    }
  }

  private enqueue(key: string, read: () => Promise<unknown>): WaitingRead {
    let start = (): void => undefined;
    const turn = new Promise<void>((resolve) => (start = resolve));
    const queued = { start, result: turn.then(read) };
    this.queue.set(key, queued);
    return queued;
  }

  private async execute<Result>(read: () => Promise<Result>): Promise<Result> {
    this.running++;
    try {
      return await read();
    } finally {
      this.running--;
      this.startNext();
    }
  }

  /** It is out of the queue before it is sent: later callers do not share it. */
  private startNext(): void {
    const [next] = this.queue;
    if (next === undefined) return;
    const [key, { start, result }] = next;
    this.queue.delete(key);
    void this.execute(() => {
      start();
      return result;
    }).catch(() => undefined);
  }
}
