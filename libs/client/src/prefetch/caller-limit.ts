import { LeafError } from '@leaf-ids/core';

/** Limits the number of waiting callers over all buffers. */
export class CallerLimit {
  waiting = 0;

  constructor(private readonly places: number) {}

  /** @throws LeafError `LEAF_OVERLOADED` at the limit */
  enter(): void {
    if (this.waiting >= this.places) {
      throw new LeafError(
        'LEAF_OVERLOADED',
        `${this.places} callers are already waiting for IDs in this client. Retry later, or raise maxWaiting.`,
        { retryAfterMs: 1000 },
      );
    }
    this.waiting++;
  }

  leave(): void {
    this.waiting--;
  }
}
