import { type BitLayout, type LeafError, isLeafError } from '@leaf-ids/core';
import {
  DEFAULT_SNOWFLAKE_OPTIONS,
  LoggedLayout,
  SnowflakeGenerator,
  type SnowflakeSnapshot,
  withinDeadline,
} from '@leaf-ids/core/internal';
import { tooLate } from '../prefetch/load-record';
import type { PrefetchView } from '../prefetch/prefetch-buffer';
import type { SnowflakeSource } from '../snowflake-source';
import { KeptWindow } from './kept-window';
import type { ResolvedWindow, WindowContext } from './window-options';

export interface WindowView extends SnowflakeSnapshot {
  /** Unix milliseconds of the first timestamp that may be used; -1 while no worker ID is held. */
  readonly from: number;
  /** Unix milliseconds of the last timestamp that may be used; -1 before the first worker ID. */
  readonly until: number;
}

/** Longest interval between two clock reads of a waiting call, in milliseconds. */
const LOOK_MS = 1000;
const NOTHING_ISSUED = { workerId: undefined, issued: 0, lastTimestamp: -1, behindMs: 0, backwardsSteps: 0 };

/** Snowflake IDs of this process, under a worker ID of the servers. Needs requests only to keep the worker ID. */
export class WindowSnowflakes implements SnowflakeSource {
  private readonly window: KeptWindow;
  /** Undefined before the first worker ID: the servers know the layout. */
  private ids: SnowflakeGenerator | undefined;

  /** @param expected the layout of the options */
  constructor(
    private readonly context: WindowContext,
    options: ResolvedWindow,
    expected: BitLayout | undefined,
  ) {
    this.window = new KeptWindow(context, options, expected, () => this.ids?.lastTimestamp ?? -1);
  }

  /** The layout of the servers; before the first answer, that of the options. */
  get layout(): BitLayout | undefined {
    return this.window.layout;
  }

  next(): string {
    return this.generator().nextString();
  }

  nextBigint(): bigint {
    return this.generator().next();
  }

  tryNext(): string | undefined {
    const { window } = this;
    if (window.term !== undefined) return this.generator().tryNextString();
    window.open();
    return undefined;
  }

  take(count: number): Promise<string[]> {
    return this.taken((ids) => ids.takeStrings(count));
  }

  takeBigints(count: number): Promise<bigint[]> {
    return this.taken((ids) => ids.take(count));
  }

  fill(): Promise<void> {
    return this.taken(() => Promise.resolve());
  }

  close(reason: LeafError): number {
    this.window.close(reason);
    return 0;
  }

  /** Releases the worker ID. Call it after {@link close} and after `closing` has aborted. */
  release(): Promise<void> {
    return this.window.release();
  }

  /** Nothing is buffered; the loads are the requests for the worker ID. */
  snapshot(): PrefetchView {
    return { buffered: 0, size: 0, loading: this.window.isAsking, ...this.window.record.view };
  }

  view(): WindowView {
    const { from, ceiling: until } = this.window;
    return { ...(this.ids?.snapshot() ?? NOTHING_ISSUED), from, until };
  }

  /** @throws LeafError why there is no worker ID */
  private generator(): SnowflakeGenerator {
    const { window } = this;
    if (window.term === undefined) {
      window.open();
      throw window.refusal;
    }
    return this.ids ?? this.newGenerator();
  }

  private newGenerator(): SnowflakeGenerator {
    const { clock, random, timeoutMs: waitMs, stepLog } = this.context;
    const { layout } = this.window;
    if (layout === undefined) throw this.window.refusal;
    const logged = stepLog ? new LoggedLayout(layout, stepLog) : layout;
    this.ids = new SnowflakeGenerator(logged, this.window, clock, random, { ...DEFAULT_SNOWFLAKE_OPTIONS, waitMs });
    return this.ids;
  }

  /** Waits for a usable window as long as a call may take. */
  private async taken<T>(take: (ids: SnowflakeGenerator) => Promise<T>): Promise<T> {
    const { window } = this;
    const { clock, callerLimit, timeoutMs } = this.context;
    const deadline = clock.monotonic() + timeoutMs;
    callerLimit.enter();
    try {
      for (;;) {
        const refusal = this.refusal();
        if (refusal === undefined) return await take(this.generator());
        if (!window.active || !refusal.retryable) throw refusal;
        const left = deadline - clock.monotonic();
        if (left <= 0) {
          const neverHeld = window.ceiling < 0;
          throw neverHeld ? tooLate('snowflake', timeoutMs, window.record.lastError) : refusal;
        }
        const lookMs = Math.min(left, refusal.retryAfterMs ?? LOOK_MS, LOOK_MS);
        await withinDeadline(window.changed, clock.monotonic() + lookMs, clock);
      }
    } finally {
      callerLimit.leave();
    }
  }

  private refusal(): LeafError | undefined {
    const { window } = this;
    if (window.term === undefined) {
      window.open();
      return window.refusal;
    }
    const refusal = this.generator().refusal();
    // A clock that was set forward does not wake the window by itself.
    if (isLeafError(refusal, 'LEAF_LEASE_EXPIRED')) void window.renew();
    return refusal;
  }
}
