import { Logger } from '@nestjs/common';
import { type Clock, LeafError } from '@leaf-ids/core';

/** Why a server that was told to stop is not ready. The next start recognizes it. */
export const STOPPING = 'This server is stopping.';

/**
 * While it is active load balancers see that this server is not ready and send their requests elsewhere, while those
 * that still come are served, each on a connection that ends with it.
 *
 * It begins with the signal to stop, and lasts until HTTP closes; or by command, and lasts until it is undone.
 */
export class Drain {
  private readonly logger = new Logger(Drain.name);
  private started = false;
  private stopping = false;

  constructor(
    private readonly clock: Clock,
    private durationMs: number,
  ) {}

  /** Whether this server wants no more requests. */
  get active(): boolean {
    return this.started;
  }

  /** Why, for the one who asks whether this server is ready. */
  get reason(): string {
    return this.stopping ? STOPPING : 'This server was told to drain; DELETE /api/server/drain undoes it.';
  }

  /** Begins a drain that an operator has requested. */
  begin(): void {
    this.started = true;
  }

  /** @throws LeafError `LEAF_NOT_READY` when the server is stopping: that cannot be undone */
  undo(): void {
    if (this.stopping) {
      throw new LeafError('LEAF_NOT_READY', 'This server is stopping: that cannot be undone. Start it again.');
    }
    this.started = false;
  }

  /** Skips the drain, for Ctrl-C. */
  skip(): void {
    this.durationMs = 0;
  }

  /** Begins the drain that precedes a stop; resolves when HTTP may close. */
  async beforeStop(): Promise<void> {
    this.stopping = true;
    this.started = true;
    if (this.durationMs === 0) return;
    this.logger.log(`Stopping: no longer ready; requests are served for another ${this.durationMs} ms.`);
    await this.clock.sleep(this.durationMs);
  }
}
