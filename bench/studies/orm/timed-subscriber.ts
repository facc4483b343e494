import type { InsertEvent } from 'typeorm';
import { LeafIdSubscriber } from '@leaf-ids/orm';

/** Sums up the time that inserts wait for IDs, until every row has one. */
export class TimedSubscriber extends LeafIdSubscriber {
  totalMs = 0;
  /** Number of ID requests. */
  bulks = 0;

  private batch: Promise<unknown> | undefined;
  private askedAt = 0;

  reset(): void {
    this.totalMs = 0;
    this.bulks = 0;
  }

  override beforeInsert(event: InsertEvent<Record<string, unknown>>): Promise<unknown> | undefined {
    const start = performance.now();
    const filled = super.beforeInsert(event);
    this.askedAt = performance.now();
    this.totalMs += this.askedAt - start;
    if (filled !== undefined && filled !== this.batch) this.follow(filled);
    return filled;
  }

  private follow(batch: Promise<unknown>): void {
    this.batch = batch;
    this.bulks++;
    void batch.then(() => (this.totalMs += performance.now() - this.askedAt));
  }
}
