import { Injectable, Logger, Optional } from '@nestjs/common';
import { Clock, type Peer, PeriodicTask, reasonOf, withinDeadline } from '@leaf-ids/core';
import { SnowflakeService } from '@leaf-ids/snowflake';

/** The registry is asked again after this time, in milliseconds. */
const KEPT_MS = 5000;
/** Who asks waits no longer for the registry, in milliseconds. */
const WAIT_MS = 1000;

/** The other servers, as the registry listed them a few seconds ago. It is asked only while somebody wants to know. */
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
      (error) => this.logger.debug(`The list of servers stays as it was: ${reasonOf(error)}`),
    );
  }

  /** Those of the last answer. */
  get list(): readonly Peer[] {
    return this.known;
  }

  /** Brings the list up to date, unless it is; goes on in the background when the registry takes its time. */
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
