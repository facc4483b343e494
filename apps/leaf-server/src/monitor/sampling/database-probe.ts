import { Injectable, Optional } from '@nestjs/common';
import { Clock, reasonOf, SegmentStore } from '@leaf/core';

/** A database that takes longer for one row counts as away, in milliseconds. */
const LIMIT_MS = 1000;

export interface DatabaseHealth {
  readonly status: 'up' | 'degraded' | 'down';
  readonly reason: string | null;
}

const UP: DatabaseHealth = { status: 'up', reason: null };

/** Whether the database answers. It is asked in the background, once at a time: nobody waits for the answer. */
@Injectable()
export class DatabaseProbe {
  private health: DatabaseHealth = UP;
  /** When the ping under way began, in monotonic milliseconds. */
  private askedAt: number | undefined;

  constructor(
    private readonly clock: Clock,
    @Optional() private readonly store?: SegmentStore,
  ) {}

  /** Asks, unless an answer is still awaited. */
  ask(): void {
    if (this.store === undefined || this.askedAt !== undefined) return;
    this.askedAt = this.clock.monotonic();
    void this.ping(this.store);
  }

  /** As of the last answer, or of its absence. */
  get state(): DatabaseHealth {
    const waited = this.askedAt === undefined ? 0 : this.clock.monotonic() - this.askedAt;
    if (waited <= LIMIT_MS || this.health.status === 'down') return this.health;
    return { status: 'down', reason: `The database has not answered for ${Math.floor(waited)} ms.` };
  }

  private async ping(store: SegmentStore): Promise<void> {
    try {
      const away = await store.ping();
      this.health = away === undefined ? UP : { status: 'degraded', reason: away };
    } catch (error) {
      this.health = { status: 'down', reason: reasonOf(error) };
    } finally {
      this.askedAt = undefined;
    }
  }
}
