/** Weight of a new duration in the running means. */
const SHARE = 1 / 8;
/**
 * With one statement in flight, a call waits for half of it on average, then for its own: 1.5 durations. With four at
 * even distances, it waits for an eighth of one, then for its own: they are better while they last less than 1.5 / 1.125
 * as long.
 */
const WORTH = 4 / 3;
/** Every so many statements, the other limit is tried. */
const TRY_EVERY = 64;
/** A statement that takes so many times the mean is held up, and holds back the others no longer. */
const HELD = 4;
/** Statements of a trial. */
const TRIAL = { alone: 1, among: 4 };

/** A statement in flight. */
export interface Flight {
  readonly sentAt: number;
  /** Whether another one was in flight at the same time. */
  isAmong: boolean;
}

/**
 * When the next statement for the same rows may be sent. The database executes them one after the other: if that takes
 * most of their duration, several in flight only wait for each other; if it is the network, they overlap. Both ways are
 * measured, and the better one is used. Those that overlap are sent at even distances: in bunches, calls would wait for
 * all of them.
 */
export class FlightLimit {
  private readonly flights = new Set<Flight>();
  /** Mean durations in milliseconds. */
  private alone: number | undefined;
  private among: number | undefined;
  private ended = 0;
  /** Statements of the trial that are left. */
  private trial = 0;
  /** Monotonic. */
  private lastSentAt = -Infinity;

  /** @param most limit while statements overlap */
  constructor(private readonly most: number) {}

  /** Milliseconds until another statement may be sent, if none ends before; Infinity: once one has ended. */
  waitMs(now: number): number {
    const { size } = this.flights;
    if (size === 0) return 0;
    if (size >= this.most) return Infinity;
    const { alone = Infinity, among = 0, isMany } = this;
    if (isMany === this.trial > 0) {
      const [oldest] = this.flights;
      return Math.max(0, (oldest?.sentAt ?? 0) + HELD * (isMany ? among : alone) - now);
    }
    // Durations among others that are not worth it may be those of a stall long ago.
    return Math.max(0, this.lastSentAt + Math.min(among, WORTH * alone) / this.most - now);
  }

  send(now: number): Flight {
    const isAmong = this.flights.size > 0;
    if (isAmong) for (const other of this.flights) other.isAmong = true;
    const flight = { sentAt: now, isAmong };
    this.flights.add(flight);
    this.lastSentAt = now;
    return flight;
  }

  /** @param isMeasured false for one that failed */
  end(flight: Flight, now: number, isMeasured: boolean): void {
    this.flights.delete(flight);
    if (!isMeasured) return;
    const { isAmong, sentAt } = flight;
    if (this.trial > 0 && isAmong !== this.isMany) this.trial--;
    else if (++this.ended % TRY_EVERY === 0) this.trial = this.isMany ? TRIAL.alone : TRIAL.among;
    if (isAmong) this.among = mean(this.among, now - sentAt);
    else this.alone = mean(this.alone, now - sentAt);
  }

  /** Whether several statements are the better way, as far as is known. */
  private get isMany(): boolean {
    return this.alone === undefined || this.among === undefined || this.among < WORTH * this.alone;
  }
}

function mean(before: number | undefined, value: number): number {
  return before === undefined ? value : before + SHARE * (value - before);
}
