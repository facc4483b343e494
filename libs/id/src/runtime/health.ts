import type { LeafErrorCode, Clock, SegmentStore } from '@leaf-ids/core';
import { reasonOf } from '@leaf-ids/core/internal';

/** `degraded`: IDs are issued, but an operator should investigate. `down`: an enabled mode issues no IDs. */
export type HealthStatus = 'up' | 'degraded' | 'down';

/** The health of a part, and the reason if it is not up. */
export interface Health {
  readonly status: HealthStatus;
  readonly code?: LeafErrorCode;
  readonly message?: string;
}

const FROM_BEST = ['off', 'up', 'degraded', 'down'];

/** The part with the worst status; of several that are as bad, the first. Undefined without parts. */
export function worstPart<Part extends { readonly status: HealthStatus | 'off' }>(
  parts: readonly (Part | undefined)[],
): Part | undefined {
  const rank = (part: Part | undefined): number => (part === undefined ? -1 : FROM_BEST.indexOf(part.status));
  return parts.reduce((worst, part) => (rank(part) > rank(worst) ? part : worst), undefined);
}

/** A database that takes longer for a ping counts as down, in milliseconds. */
const LIMIT_MS = 1000;

/** Pings the database in the background, one ping at a time, so that readers of the health never wait. */
export class DatabaseProbe {
  private answer: Health | undefined;
  /** Start of the ping in progress, in monotonic milliseconds. */
  private askedAt: number | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly store?: SegmentStore,
  ) {}

  /** Starts a ping, unless one is in progress. */
  ask(): void {
    if (this.store === undefined || this.askedAt !== undefined) return;
    this.askedAt = this.clock.monotonic();
    void this.ping(this.store);
  }

  /** The health after the newest ping, or while it is overdue; undefined before the first response. */
  get health(): Health | undefined {
    const waited = this.askedAt === undefined ? 0 : this.clock.monotonic() - this.askedAt;
    if (waited <= LIMIT_MS || this.answer?.status === 'down') return this.answer;
    return { status: 'down', message: `The database has not responded for ${Math.floor(waited)} ms.` };
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
