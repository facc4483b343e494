import { type BeforeApplicationShutdown, Logger } from '@nestjs/common';
import type { Clock } from '@leaf/core';

/**
 * The time between the signal to stop and the close of HTTP: load balancers see that this server is not ready and send
 * their requests elsewhere, while those that still come are served, each on a connection that ends with it.
 */
export class Drain implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Drain.name);
  private started = false;

  constructor(
    private readonly clock: Clock,
    private durationMs: number,
  ) {}

  /** Whether this server is on its way out. */
  get active(): boolean {
    return this.started;
  }

  /** Nobody is to wait: there is a person at the terminal. */
  skip(): void {
    this.durationMs = 0;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.started = true;
    if (this.durationMs === 0) return;
    this.logger.log(`Stopping: not ready any more, still serving for ${this.durationMs} ms.`);
    await this.clock.sleep(this.durationMs);
  }
}
