import { SteppedClock } from '../../../support/servers/faketime';

/** How far ahead of the true time a server's clock may ever be, in milliseconds. */
export const MAX_AHEAD_MS = 2 * 3_600_000;

/** The wall clock of one server. Some steps last; others are taken back, and are relative to those. */
export class ServerClock {
  /** How far all lasting steps have moved it ahead of the true time, in milliseconds. */
  aheadMs = 0;

  private constructor(private readonly clock: SteppedClock) {}

  /** One that is right, kept in a file below `directory`. */
  static async create(directory: string): Promise<ServerClock> {
    return new ServerClock(await SteppedClock.create(directory));
  }

  get env(): Readonly<Record<string, string>> {
    return this.clock.env;
  }

  /** Puts it `offsetMs` ahead of where the lasting steps have left it, or behind that. */
  set(offsetMs: number): Promise<void> {
    return this.clock.set(this.aheadMs + offsetMs);
  }

  /** A step that lasts. */
  async advanceTo(aheadMs: number): Promise<void> {
    if (aheadMs < this.aheadMs || aheadMs > MAX_AHEAD_MS) throw new Error(`A clock cannot go to ${aheadMs} ms ahead`);
    this.aheadMs = aheadMs;
    await this.set(0);
  }
}
