import { withinDeadline } from '../../util/deadline';
import { LeafError } from '../../errors/leaf-error';
import { retry } from '../../util/retry';
import { BACKOFF } from '../buffer/allocating-source';
import type { BufferContext } from '../allocation/buffer-context';
import { giveBackAll, type TagRest } from '../allocation/give-back';
import type { IdRange } from '../tags/id-range';
import { assertNear, PeriodCalendar, periodOf, type PeriodRanges, periodRow } from '../tags/periods';
import { pausedTag, segmentUnavailable, unknownTag } from '../tags/tag-refusals';
import type { TagKind, TagReset } from '../tags/tag-settings';
import type { TagSource, TagSnapshot, TagVisit } from '../allocation/tag-source';
import type { TagSources } from './tag-sources';

/** How long the buffer of a past or future period is kept after its last use, in milliseconds. */
const KEPT_MS = 3_600_000;
/** How long before its start the next period is opened, in milliseconds: two default refresh intervals and a margin. */
const READY_MS = 180_000;

interface OpenPeriod {
  readonly name: string;
  readonly buffer: TagSource;
  /** Monotonic milliseconds. */
  usedAt: number;
}

/** The kind of a tag that restarts with each period. */
export interface PeriodicKind extends TagKind {
  readonly reset: TagReset;
}

export function isPeriodic(kind: TagKind | undefined): kind is PeriodicKind {
  return kind?.reset !== undefined && kind.order !== 'gapless';
}

/**
 * A tag that restarts each day, month or year. Each period in use has its own row and its own buffer (or queue, if the
 * tag is strict), which work like those of other tags. Uniqueness therefore does not depend on the clocks of the
 * servers.
 */
export class PeriodicTag {
  paused = false;
  /** See {@link TagSource.listed}. */
  listed = 0;
  private readonly periods = new Map<string, OpenPeriod>();
  private readonly opening = new Map<string, Promise<OpenPeriod>>();
  /** The highest number of each period whose row disappeared. */
  private readonly highest = new Map<string, bigint>();
  /** Counts of retired buffers. */
  private issuedBefore = 0;
  private revisionBefore = 0;
  private ended: (() => LeafError) | undefined;

  constructor(
    readonly tag: string,
    readonly kind: PeriodicKind,
    private readonly calendar: PeriodCalendar,
    private readonly context: BufferContext,
    private readonly sources: TagSources,
    /** The highest number of a row known to be taken before this tag was known; 0 if none is. */
    private readonly highestBefore: (row: string) => bigint,
  ) {}

  /**
   * The next `count` numbers of the period that contains `at`.
   *
   * @param at Unix milliseconds; defaults to now
   * @throws LeafError as `SegmentIdGenerator.takeInPeriod`
   */
  async take(count: number, at?: number): Promise<PeriodRanges> {
    const { clock } = this.context;
    const now = clock.now();
    if (at !== undefined) assertNear(at, now, this.kind.reset);
    const period = this.calendar.nameAt(at ?? now);
    let isRetry = false;
    for (;;) {
      if (this.paused) throw pausedTag(this.tag);
      const open = this.periods.get(period) ?? (await this.open(period));
      open.usedAt = clock.monotonic();
      try {
        return { period, ranges: await takeFrom(open.buffer, count) };
      } catch (error) {
        if (isRetry || !isGone(error)) throw error;
        isRetry = true;
        // The row is gone, for example after a failover. Create it again, above all known numbers.
        this.forget(open);
      }
    }
  }

  /** Retires the unused buffers of other periods, and opens the next period shortly before it starts. */
  async maintain(): Promise<void> {
    const { clock, store } = this.context;
    const now = clock.now();
    const current = this.calendar.nameAt(now);
    const inUse = this.periods.has(current);
    const rests = [...this.periods.values()]
      .filter(({ name, usedAt }) => name !== current && clock.monotonic() - usedAt >= KEPT_MS)
      .map((open) => this.retire(open, () => unknownTag(open.buffer.tag)));
    await giveBackAll(store, rests);
    const next = this.calendar.nameAt(now + READY_MS);
    if (inUse && !this.periods.has(next)) await (await this.open(next)).buffer.preload();
  }

  /** Ends the tag: later and waiting calls are refused with the error that `reason` creates. */
  end(reason: () => LeafError): TagRest[] {
    this.ended = reason;
    return [...this.periods.values()].map((open) => this.retire(open, reason));
  }

  /** The rows of its periods, each with the highest number known to be taken. */
  *taken(): IterableIterator<[row: string, highest: bigint]> {
    for (const [name, highest] of this.highest) yield [periodRow(this.tag, name), highest];
    for (const { buffer } of this.periods.values()) yield [buffer.tag, buffer.highest];
  }

  /** Count of numbers issued, over all periods. */
  get issued(): number {
    return this.sum(({ issued }) => issued) + this.issuedBefore;
  }

  /** See `SegmentIdGenerator.revisionOf`. */
  get revision(): number {
    const revision = this.revisionBefore + this.sum((buffer) => buffer.revision + 1);
    return this.paused ? -1 - revision : revision;
  }

  /** The snapshot of the newest period in use. */
  snapshot(): TagSnapshot {
    const newest = this.newest();
    const shown = newest?.buffer ?? this.buffer(this.tag, 0n);
    const { tag, issued, paused } = this;
    return { ...shown.snapshot(), tag, issued, paused, period: newest?.name };
  }

  visit(visit: TagVisit): void {
    const buffered = this.sum((buffer) => buffer.buffered);
    visit(this.tag, this.issued, buffered, this.newest()?.buffer.step ?? 0);
  }

  private open(period: string): Promise<OpenPeriod> {
    let opening = this.opening.get(period);
    if (opening === undefined) {
      opening = this.begin(period).finally(() => this.opening.delete(period));
      this.opening.set(period, opening);
    }
    return opening;
  }

  private async begin(name: string): Promise<OpenPeriod> {
    const { store, clock, options, random, closing: signal } = this.context;
    // After the calls of this turn: a burst of them must not use up the time of the store.
    await Promise.resolve();
    const deadline = clock.monotonic() + options.waitMs;
    const row = periodRow(this.tag, name);
    const highest = this.highest.get(name) ?? this.highestBefore(row);
    this.assertOpen();
    const begin = (): Promise<void> =>
      store.beginPeriod(this.tag, this.kind, periodOf(this.kind.reset, name), highest + 1n);
    const isRetryable = (error: unknown): boolean =>
      error instanceof LeafError && error.retryable && this.ended === undefined && clock.monotonic() < deadline;
    const begun = retry(begin, { ...BACKOFF, attempts: Infinity, isRetryable, signal }, clock, random);
    const inTime = await withinDeadline(begun, deadline, clock);
    if (!inTime) throw segmentUnavailable(row, options.waitMs, undefined);
    this.assertOpen();
    const open = { name, buffer: this.buffer(row, highest), usedAt: clock.monotonic() };
    this.periods.set(name, open);
    return open;
  }

  private buffer(row: string, highest: bigint): TagSource {
    return this.sources.open({ tag: row, kind: this.kind }, highest);
  }

  private forget(open: OpenPeriod): void {
    if (this.periods.get(open.name) !== open) return;
    this.highest.set(open.name, open.buffer.highest);
    void this.retire(open, () => unknownTag(open.buffer.tag)).ranges;
  }

  private retire(open: OpenPeriod, reason: () => LeafError): TagRest {
    const { name, buffer } = open;
    this.periods.delete(name);
    const ranges = this.context.used.retire(buffer, reason);
    this.issuedBefore += buffer.issued;
    this.revisionBefore += buffer.revision + 2;
    return { tag: buffer.tag, ranges };
  }

  private newest(): OpenPeriod | undefined {
    return [...this.periods.values()].reduce<OpenPeriod | undefined>(
      (newest, open) => (newest === undefined || open.name > newest.name ? open : newest),
      undefined,
    );
  }

  private sum(figure: (buffer: TagSource) => number): number {
    let sum = 0;
    for (const { buffer } of this.periods.values()) sum += figure(buffer);
    return sum;
  }

  private assertOpen(): void {
    if (this.ended !== undefined) throw this.ended();
  }
}

/** Single numbers share a load; ranges have a load of their own. */
async function takeFrom(buffer: TagSource, count: number): Promise<IdRange[]> {
  if (count > 1) return buffer.takeRanges(count);
  const number = await buffer.take();
  return [{ from: number, to: number }];
}

function isGone(error: unknown): boolean {
  return error instanceof LeafError && error.code === 'LEAF_TAG_NOT_FOUND';
}
