import { Clock } from '@leaf-ids/core';
import type { Actor, Scheduler } from './scheduler';

/** How a process is frozen in the middle of its work. */
export interface Freeze {
  readonly ms: number;
  /** The machine sleeps: monotonic time stands still, too. */
  readonly suspended: boolean;
  /** Step of the wall clock meanwhile. */
  readonly step: number;
}

/**
 * The clock of one host: true time, run at a rate of its own and stepped at will. A process that computes or blocks is
 * ahead of the scheduler until its next event.
 */
export class SimClock extends Clock {
  /** True milliseconds up to which the process is paused, or has computed. */
  busyUntil = 0;
  /** The process now running on this host. */
  actor: Actor | undefined;
  private wall = 0;
  private mono = 0;
  private rate = 1;
  private anchorTime = 0;
  private suspendedMs = 0;
  private readsLeft = 0;
  private freezing: (() => number) | undefined;

  /** @param anchorWall Unix milliseconds that it shows at the start */
  constructor(
    private readonly scheduler: Scheduler,
    private anchorWall: number,
  ) {
    super();
    this.refresh();
  }

  /** True milliseconds at the current point of the process. */
  get local(): number {
    return Math.max(this.scheduler.now, this.busyUntil);
  }

  /** What {@link now} would return, without advancing the process. */
  get shown(): number {
    return this.wall;
  }

  /** True milliseconds from now until it shows `wall`, if nothing happens to it. */
  until(wall: number): number {
    return Math.max(0, (wall - this.wallAt(this.local)) / this.rate) + 1e-6;
  }

  now(): number {
    if (this.readsLeft > 0 && --this.readsLeft === 0) return this.freezing?.() ?? this.wall;
    return this.wall;
  }

  monotonic(): number {
    return this.mono;
  }

  after(ms: number, act: () => void): () => void {
    const timer = this.scheduler.at(this.local + ms, 'sleep ends', act, this.actor);
    return () => {
      timer.cancelled = true;
    };
  }

  pause(ms: number): void {
    // Every call takes at least a microsecond; less would be lost in rounding, and time would stand still.
    this.busyUntil = this.local + Math.max(ms, 0.001);
    this.refresh();
  }

  step(ms: number): void {
    this.anchorWall += ms;
    this.refresh();
  }

  /** From now on it runs `rate` times as fast as true time. */
  drift(rate: number): void {
    this.anchorWall = this.wallAt(this.scheduler.now);
    this.anchorTime = this.scheduler.now;
    this.rate = rate;
    this.refresh();
  }

  /** Sets the clock right: true time plus `offset`. */
  correct(anchorWall: number): void {
    this.anchorWall = anchorWall;
    this.anchorTime = 0;
    this.rate = 1;
    this.refresh();
  }

  freeze({ ms, suspended, step }: Freeze): void {
    this.busyUntil = this.local + ms;
    if (suspended) this.suspendedMs += ms;
    this.step(step);
  }

  /**
   * Freezes the process at the `reads`-th reading of the wall clock from now: before it is taken, or just after.
   *
   * @param onFrozen gets the true time at which it goes on
   */
  freezeAtRead(reads: number, freeze: Freeze, after: boolean, onFrozen: (until: number) => void): void {
    this.readsLeft = reads;
    this.freezing = () => {
      const before = this.wall;
      this.freeze(freeze);
      onFrozen(this.local);
      return after ? before : this.wall;
    };
  }

  /** A process starts on this host. */
  attach(actor: Actor): void {
    this.actor = actor;
    this.busyUntil = 0;
    this.readsLeft = 0;
    this.refresh();
  }

  refresh(): void {
    this.wall = Math.floor(this.wallAt(this.local));
    this.mono = this.local - this.suspendedMs;
  }

  private wallAt(time: number): number {
    return this.anchorWall + (time - this.anchorTime) * this.rate;
  }
}
