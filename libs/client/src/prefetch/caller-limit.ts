import { LeafError } from '@leaf-ids/core';

/** Counts the callers that wait, over all buffers. */
export class CallerLimit {
  waiting = 0;

  constructor(private readonly places: number) {}

  /** @throws LeafError `LEAF_OVERLOADED` when it is full */
  enter(): void {
    if (this.waiting >= this.places) {
      throw new LeafError(
        'LEAF_OVERLOADED',
        `${this.places} callers wait for IDs in this client already. Come back later, or call less; maxWaiting is the limit.`,
        { retryAfterMs: 1000 },
      );
    }
    this.waiting++;
  }

  leave(): void {
    this.waiting--;
  }
}
