import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';

/** Failures of one address within a window before it is told to wait. */
const MOST_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Addresses kept in mind; beyond that the oldest is forgotten. */
const MOST_ADDRESSES = 10_000;

interface Window {
  failures: number;
  /** Monotonic. */
  readonly endsAt: number;
}

/** Counts failures by address, each in a window of a minute from its first failure. */
@Injectable()
export class FailureLimit {
  /** Oldest first: all windows are of one length. */
  private readonly windows = new Map<string, Window>();

  constructor(private readonly clock: Clock) {}

  /** @returns how many milliseconds the address has to wait; 0 when this failure is within the limit */
  count(address: string): number {
    const now = this.clock.monotonic();
    const window = this.current(address, now);
    window.failures++;
    return window.failures > MOST_FAILURES ? window.endsAt - now : 0;
  }

  private current(address: string, now: number): Window {
    const running = this.windows.get(address);
    if (running !== undefined && now < running.endsAt) return running;
    this.windows.delete(address);
    for (const [oldest, { endsAt }] of this.windows) {
      if (now < endsAt && this.windows.size < MOST_ADDRESSES) break;
      this.windows.delete(oldest);
    }
    const window = { failures: 0, endsAt: now + WINDOW_MS };
    this.windows.set(address, window);
    return window;
  }
}
