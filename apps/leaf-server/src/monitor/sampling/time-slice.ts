import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@leaf-ids/core';

/** Time limit of work before the event loop gets a turn, in milliseconds. */
const BUDGET_MS = 1;

/** Divides long work into slices, between which requests are served. */
export class TimeSlice {
  private end: number;

  constructor(private readonly clock: Clock) {
    this.end = clock.monotonic() + BUDGET_MS;
  }

  /** Call it after every piece of work that takes well below a millisecond. */
  async yieldIfOver(): Promise<void> {
    if (this.clock.monotonic() >= this.end) await this.yield();
  }

  async yield(): Promise<void> {
    await setImmediate();
    this.end = this.clock.monotonic() + BUDGET_MS;
  }
}
