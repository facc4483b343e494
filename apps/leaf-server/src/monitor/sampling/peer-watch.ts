import { Injectable, Logger, Optional } from '@nestjs/common';
import { Clock, type Peer } from '@leaf-ids/core';
import { PeriodicTask, reasonOf, withinDeadline } from '@leaf-ids/core/internal';
import { SnowflakeService } from '@leaf-ids/id';

/** Maximum age of the list, in milliseconds. */
const KEPT_MS = 5000;
/** How long refresh() waits for the registry, in milliseconds. */
const WAIT_MS = 1000;

/** Caches the servers in the registry for a few seconds. The registry is only queried on demand. */
@Injectable()
export class PeerWatch {
  private readonly logger = new Logger(PeerWatch.name);
  private readonly reading: PeriodicTask;
  private known: readonly Peer[] = [];
  private readAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    @Optional() private readonly snowflake?: SnowflakeService,
  ) {
    this.reading = new PeriodicTask(
      'peers',
      () => this.read(),
      clock,
      (error) =>
        this.logger.debug(
          `Cannot read the list of servers from the registry; the previous list is kept: ${reasonOf(error)}`,
        ),
    );
  }

  /** The servers of the last successful query. */
  get list(): readonly Peer[] {
    return this.known;
  }

  /** Updates the list if it is older than 5 s. A query that takes longer than 1 s continues in the background. */
  async refresh(): Promise<void> {
    if (this.snowflake === undefined || this.clock.monotonic() - this.readAt < KEPT_MS) return;
    await withinDeadline(this.reading.run(), this.clock.monotonic() + WAIT_MS, this.clock);
  }

  private async read(): Promise<void> {
    try {
      this.known = (await this.snowflake?.peers()) ?? [];
    } finally {
      this.readAt = this.clock.monotonic();
    }
  }
}
