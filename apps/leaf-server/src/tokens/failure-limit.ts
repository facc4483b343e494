import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { networkOf } from './client-network';

/** Failures of one client within a window before it has to wait. */
const MAX_FAILURES = 10;
/** Time in which failures of a client are counted, in milliseconds. */
const WINDOW_MS = 60_000;
/** Client networks in memory; beyond that the oldest is dropped. */
const MAX_NETWORKS = 10_000;

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

  constructor(private readonly clock: Clock) {}

  /** Counts a failure of the client. Returns how many milliseconds it has to wait; 0 if the failure is within the limit. */
  fail(address: string): number {
    const now = this.clock.monotonic();
    const window = this.current(networkOf(address), now);
    if (window.failures === MAX_FAILURES) return window.endsAt - now;
    window.failures++;
    return 0;
  }

  private current(network: string, now: number): Window {
    const running = this.windows.get(network);
    if (running !== undefined && now < running.endsAt) return running;
    this.windows.delete(network);
    for (const [oldest, { endsAt }] of this.windows) {
      if (now < endsAt && this.windows.size < MAX_NETWORKS) break;
      this.windows.delete(oldest);
    }
    const window = { failures: 0, endsAt: now + WINDOW_MS };
    this.windows.set(network, window);
    return window;
  }
}
