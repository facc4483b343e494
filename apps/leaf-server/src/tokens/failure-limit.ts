import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { networkOf } from './client-network';

/** Failures of one client within a window before it has to wait. */
const MOST_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Client networks in memory; beyond that the oldest is dropped. */
const MOST_NETWORKS = 10_000;

interface Window {
  failures: number;
  /** Monotonic. */
  readonly endsAt: number;
}

/** Counts failures by client network, each in a window of a minute from its first failure. */
@Injectable()
export class FailureLimit {
  /** Oldest first: all windows are of one length. */
  private readonly windows = new Map<string, Window>();
  /** No client has to wait after this time. */
  private limitedUntil = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** Whether any client may have to wait. */
  get isLimiting(): boolean {
    return this.limitedUntil !== -Infinity && this.clock.monotonic() < this.limitedUntil;
  }

  /** How many milliseconds the client has to wait before its next attempt; 0 when it may try now. */
  waitMs(address: string): number {
    const window = this.windows.get(networkOf(address));
    if (window === undefined || window.failures < MOST_FAILURES) return 0;
    return Math.max(0, window.endsAt - this.clock.monotonic());
  }

  count(address: string): void {
    const window = this.current(networkOf(address), this.clock.monotonic());
    window.failures++;
    if (window.failures >= MOST_FAILURES) this.limitedUntil = Math.max(this.limitedUntil, window.endsAt);
  }

  private current(network: string, now: number): Window {
    const running = this.windows.get(network);
    if (running !== undefined && now < running.endsAt) return running;
    this.windows.delete(network);
    for (const [oldest, { endsAt }] of this.windows) {
      if (now < endsAt && this.windows.size < MOST_NETWORKS) break;
      this.windows.delete(oldest);
    }
    const window = { failures: 0, endsAt: now + WINDOW_MS };
    this.windows.set(network, window);
    return window;
  }
}
