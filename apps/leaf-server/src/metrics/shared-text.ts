import type { Clock } from '@leaf-ids/core';

/** A text that is younger is served again, in milliseconds. */
const SHARED_FOR_MS = 250;

/** A text that takes a while to make: it is made once at a time, and callers share it until it is too old. */
export class SharedText {
  private current: Promise<string> | undefined;
  /** Monotonic milliseconds; infinite while it is being made. */
  private expiresAt = Infinity;

  constructor(
    private readonly make: () => Promise<string>,
    private readonly clock: Clock,
  ) {}

  get(): Promise<string> {
    if (this.clock.monotonic() >= this.expiresAt) this.current = undefined;
    this.current ??= this.renew();
    return this.current;
  }

  private async renew(): Promise<string> {
    this.expiresAt = Infinity;
    try {
      const text = await this.make();
      this.expiresAt = this.clock.monotonic() + SHARED_FOR_MS;
      return text;
    } catch (error) {
      this.current = undefined;
      throw error;
    }
  }
}
