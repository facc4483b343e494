import { Clock } from './leaf';

/** Unix milliseconds at which every film starts: 2023-11-14T22:13:20Z. */
export const START = 1_700_000_000_000;

/** A process. */
export interface Owner {
  /** Events of an ended process are dropped. */
  readonly alive: boolean;
  /** Events of a paused process wait until it goes on. */
  readonly paused: boolean;
}

interface FilmEvent {
  time: number;
  readonly order: number;
  readonly owner: Owner | undefined;
  readonly run: () => void;
}

/** The simulated time of a film: runs one event after the other, each with all promise reactions that follow. */
export class FilmTime {
  /** Milliseconds since the start. */
  now = 0;
  private events: FilmEvent[] = [];
  private waiting: FilmEvent[] = [];
  private scheduled = 0;

  /** @returns cancels it */
  at(time: number, owner: Owner | undefined, run: () => void): () => void {
    const event = { time: Math.max(time, this.now), order: this.scheduled++, owner, run };
    this.events.push(event);
    return () => {
      this.events = this.events.filter((each) => each !== event);
      this.waiting = this.waiting.filter((each) => each !== event);
    };
  }

  /** Runs the next event at or before `until`. @returns whether there was one; if not, the time is `until` */
  async step(until: number): Promise<boolean> {
    for (let event = this.next(until); event !== undefined; event = this.next(until)) {
      this.events = this.events.filter((each) => each !== event);
      if (event.owner?.alive === false) continue;
      if (event.owner?.paused === true) {
        this.waiting.push(event);
        continue;
      }
      this.now = event.time;
      event.run();
      await settled();
      return true;
    }
    this.now = Math.max(this.now, until);
    return false;
  }

  /** Runs what has waited for a paused process. */
  resume(owner: Owner): void {
    for (const event of this.waiting.filter((each) => each.owner === owner))
      this.events.push({ ...event, time: this.now });
    this.waiting = this.waiting.filter((each) => each.owner !== owner);
  }

  private next(until: number): FilmEvent | undefined {
    let first: FilmEvent | undefined;
    for (const event of this.events) {
      if (event.time > until) continue;
      if (first === undefined || event.time < first.time || (event.time === first.time && event.order < first.order)) {
        first = event;
      }
    }
    return first;
  }
}

/** The clock of one host, which can be stepped. */
export class FilmClock extends Clock {
  /** The process that runs on this host. */
  owner: Owner | undefined;

  constructor(
    private readonly time: FilmTime,
    /** How far it is ahead, in milliseconds. */
    public offset: number,
  ) {
    super();
  }

  now(): number {
    return START + Math.floor(this.time.now + this.offset);
  }

  monotonic(): number {
    return this.time.now;
  }

  after(ms: number, act: () => void): () => void {
    return this.time.at(this.time.now + ms, this.owner, act);
  }

  pause(): void {
    // No call of the film blocks.
  }
}

/** Resolves after all promise reactions: a timer runs after them. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
