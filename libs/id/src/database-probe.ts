import { type Clock, reasonOf, type SegmentStore } from '@leaf-ids/core';
import type { Health } from './health';

/** A database that takes longer for one row counts as down, in milliseconds. */
const LIMIT_MS = 1000;

/** Whether the database answers. It is asked in the background, one ping at a time: nobody waits for the answer. */
export class DatabaseProbe {
  private answer: Health | undefined;
  /** When the ping under way began, in monotonic milliseconds. */
  private askedAt: number | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly store?: SegmentStore,
  ) {}

  /** Asks, unless an answer is still awaited. */
  ask(): void {
    if (this.store === undefined || this.askedAt !== undefined) return;
    this.askedAt = this.clock.monotonic();
    void this.ping(this.store);
  }

  /** As of the last answer, or of its absence; undefined before the first. */
  get health(): Health | undefined {
    const waited = this.askedAt === undefined ? 0 : this.clock.monotonic() - this.askedAt;
    if (waited <= LIMIT_MS || this.answer?.status === 'down') return this.answer;
    return { status: 'down', message: `The database has not answered for ${Math.floor(waited)} ms.` };
  }

  private async ping(store: SegmentStore): Promise<void> {
    try {
      const degraded = await store.ping();
      this.answer = degraded === undefined ? { status: 'up' } : { status: 'degraded', message: degraded };
    } catch (error) {
      this.answer = { status: 'down', message: reasonOf(error) };
    } finally {
      this.askedAt = undefined;
    }
  }
}
