import { Clock } from './clock';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test advances or steps it. */
export class FakeClock extends Clock {
  private elapsed = 0;
  private readonly sleepers = new Set<Sleeper>();

  constructor(private wall = 1_700_000_000_000) {
    super();
  }

  now(): number {
    return Math.floor(this.wall);
  }

  monotonic(): number {
    return this.elapsed;
  }

  after(ms: number, act: () => void): () => void {
    const sleeper: Sleeper = {
      at: this.elapsed + ms,
      wake: () => {
        this.sleepers.delete(sleeper);
        act();
      },
    };
    this.sleepers.add(sleeper);
    return () => this.sleepers.delete(sleeper);
  }

  pause(ms: number): void {
    this.move(ms);
  }

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.sleepers.size;
  }

  /** Steps the wall clock by `ms`, which may be negative. Monotonic time and sleeps are not affected. */
  step(ms: number): void {
    this.wall += ms;
  }

  /**
   * Advances time by `ms` milliseconds. Sleeps end in order of their due times; promise reactions run after each one.
   */
  async advance(ms: number): Promise<void> {
    const until = this.elapsed + ms;
    await settle();
    for (let sleeper = this.earliest(until); sleeper !== undefined; sleeper = this.earliest(until)) {
      this.move(Math.max(0, sleeper.at - this.elapsed));
      sleeper.wake();
      await settle();
    }
    this.move(until - this.elapsed);
    await settle();
  }

  private move(ms: number): void {
    this.elapsed += ms;
    this.wall += ms;
  }

  private earliest(until: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.sleepers) {
      if (sleeper.at <= until && (first === undefined || sleeper.at < first.at)) first = sleeper;
    }
    return first;
  }
}

/** Runs all pending promise reactions: an immediate runs after them. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
