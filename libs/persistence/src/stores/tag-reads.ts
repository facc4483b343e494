import { LeafError } from '@leaf-ids/core';

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
    if (next === undefined || this.running >= this.width) return;
    const [key, { start, result }] = next;
    this.queue.delete(key);
    void this.execute(() => {
      start();
      return result;
    }).catch(() => undefined);
  }
}
