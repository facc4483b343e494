import type { Clock } from '@leaf-ids/core';

/** Interval between checks, in milliseconds. */
const INTERVAL_MS = 500;

/** A connection whose time without a transfer is limited. */
export interface Timed {
  /** Time without a transfer after which it is idle, in milliseconds. */
  readonly idleLimitMs: number;
  /** {@link IdleTimer.now} at its newest transfer. */
  readonly movedAt: number;
  onIdle(): void;
}

/**
 * One timer for all connections. Node.js has one for each, which every read and write moves. `onIdle` runs up
 * to twice {@link INTERVAL_MS} late, never early.
 */
export class IdleTimer {
  /** Monotonic time of the latest check. */
  now: number;
  private readonly members = new Set<Timed>();
  private cancel: (() => void) | undefined;

  constructor(private readonly clock: Clock) {
    this.now = clock.monotonic();
  }

  add(member: Timed): void {
    this.members.add(member);
    if (this.cancel !== undefined) return;
    this.now = this.clock.monotonic();
    this.cancel = this.clock.after(INTERVAL_MS, this.check);
  }

  delete(member: Timed): void {
    this.members.delete(member);
    if (this.members.size > 0) return;
    this.cancel?.();
    this.cancel = undefined;
  }

  private readonly check = (): void => {
    this.now = this.clock.monotonic();
    this.cancel = this.clock.after(INTERVAL_MS, this.check);
    for (const member of this.members) {
      if (this.now - member.movedAt >= member.idleLimitMs + INTERVAL_MS) member.onIdle();
    }
  };
}
