import { Logger } from '@nestjs/common';
import { type Clock, LeafError } from '@leaf-ids/core';
import { withinDeadline } from '@leaf-ids/core/internal';

/** This many signals end the process at once: the first asks it to stop, the second is often a mere repetition. */
const LAST_SIGNAL = 3;
/** How long an aborted start may take to close what it has opened, in milliseconds. */
const ABORT_LIMIT_MS = 800;

/** A server as far as its stop is concerned. */
interface Closable {
  close(options: { readonly drain: boolean }): Promise<void>;
}

/**
 * Ends the process in order, once. A start under way is aborted: what it has opened is closed within a second, however
 * long a database or a registry takes to answer.
 */
export class ShutdownController {
  /** Whether it was told to. */
  asked = false;

  private readonly logger = new Logger('Server');
  private readonly aborting = new AbortController();
  private starting: Promise<Closable> | undefined;
  private started = false;

  constructor(private readonly clock: Clock) {}

  /** Aborts the start. */
  get signal(): AbortSignal {
    return this.aborting.signal;
  }

  /**
   * The start, which {@link signal} aborts.
   *
   * @throws why it failed, unless the process ends anyway
   */
  async watch<Server extends Closable>(starting: Promise<Server>): Promise<Server> {
    this.starting = starting;
    try {
      const server = await starting;
      this.started = true;
      return server;
    } catch (error) {
      // Never settles: the process is about to exit.
      if (this.asked) return new Promise<never>(() => undefined);
      throw error;
    }
  }

  /** @param drain whether load balancers are to find out first */
  now(drain: boolean): void {
    if (this.asked) return;
    this.asked = true;
    // Not left to the event loop: a connection that nobody answers would keep it turning.
    void this.end(drain).finally(() => process.exit());
  }

  /** @param direct whether signals are for this process; one that is supervised leaves those of a terminal to its supervisor */
  onSignals({ direct }: { readonly direct: boolean }): void {
    let signals = 0;
    const stop = (signal: NodeJS.Signals): void => {
      signals++;
      if (signals >= LAST_SIGNAL) process.exit(1);
      this.now(signal !== 'SIGINT');
    };
    process.on('SIGTERM', stop);
    for (const ofTerminal of ['SIGINT', 'SIGHUP']) process.on(ofTerminal, direct ? stop : () => undefined);
  }

  private async end(drain: boolean): Promise<void> {
    if (this.started) {
      await (await this.starting)?.close({ drain });
      return;
    }
    this.aborting.abort(new LeafError('LEAF_NOT_READY', 'The server was stopped before its start was complete.'));
    const closed = this.starting?.then(
      (server) => server.close({ drain: false }),
      () => undefined,
    );
    const deadline = this.clock.monotonic() + ABORT_LIMIT_MS;
    const inTime = closed === undefined || (await withinDeadline(closed, deadline, this.clock));
    this.logger.log(
      inTime
        ? 'Stopped during the start; everything that was opened is closed.'
        : `Stopped during the start; connections that did not answer within ${ABORT_LIMIT_MS} ms were dropped.`,
    );
  }
}
