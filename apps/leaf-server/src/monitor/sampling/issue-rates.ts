import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { forEachInPages, type Survey, usedOnly } from '@leaf-ids/core/internal';
import { Leaf } from '@leaf-ids/id';
import { round2 } from './traffic';

/** Twelve intervals of five seconds: one minute. */
const SAMPLES = 13;
/** One more slot, because rates are read while a sample is in progress. */
const SLOTS = SAMPLES + 1;

/** Tags between two yields to the event loop. */
const PAGE = 1000;

export interface TagRate {
  readonly tag: string;
  /** IDs per second. */
  readonly rate: number;
}

/** Issued IDs of a tag at each sample, by slot; a single number if all samples are equal. */
type Samples = number[] | number;

/** IDs per second of each tag over the last minute; exactly 0 if idle for that time. */
@Injectable()
export class IssueRates {
  /** Tags that have issued at least one ID. */
  private tags = new Map<string, Samples>();
  /** Time of each slot, in monotonic milliseconds. */
  private readonly times: number[] = [];
  private count = 0;

  constructor(private readonly clock: Clock) {}

  /**
   * Call every five seconds; calls must not overlap.
   *
   * @param survey called a second time after tags were removed
   */
  async sample(survey: Survey): Promise<void> {
    const slot = this.count % SLOTS;
    this.times[slot] = this.clock.monotonic();
    let used = 0;
    // In place: filling a new map of 100,000 tags would block the event loop whenever it grows.
    await survey((tag, issued) => {
      if (issued === 0) return;
      used++;
      const before = this.tags.get(tag);
      const samples = added(before, issued, slot);
      if (samples !== before) this.tags.set(tag, samples);
    });
    if (used < this.tags.size) this.tags = await usedOnly(this.tags, survey);
    this.count++;
  }

  /** IDs per second. */
  rateOf(tag: string): number {
    const samples = this.tags.get(tag);
    if (typeof samples !== 'object' || this.count < 2) return 0;
    const newest = (this.count - 1) % SLOTS;
    const oldest = Math.max(0, this.count - SAMPLES) % SLOTS;
    const ms = (this.times[newest] ?? 0) - (this.times[oldest] ?? 0);
    const ids = (samples[newest] ?? 0) - (samples[oldest] ?? 0);
    return ms > 0 ? (ids * 1000) / ms : 0;
  }

  /** The `most` tags that issue the most IDs, the busiest first; without idle tags. */
  async busiest(most: number): Promise<readonly TagRate[]> {
    const found: TagRate[] = [];
    const see = (tag: string): void => {
      const rate = round2(this.rateOf(tag));
      if (rate <= ((found.length < most ? undefined : found.at(-1)?.rate) ?? 0)) return;
      const place = found.findIndex((one) => one.rate < rate);
      found.splice(place < 0 ? found.length : place, 0, { tag, rate });
      found.length = Math.min(found.length, most);
    };
    await forEachInPages(this.tags.keys(), PAGE, see, this.clock);
    return found;
  }
}

function added(before: Samples | undefined, issued: number, slot: number): Samples {
  if (before === issued) return before;
  const last = typeof before === 'object' ? before[(slot + SLOTS - 1) % SLOTS] : before;
  // The counter of a tag that is deleted and recreated restarts from 0.
  const known = last !== undefined && issued >= last;
  const samples = known && typeof before === 'object' ? before : new Array<number>(SLOTS).fill(known ? last : 0);
  samples[slot] = issued;
  return samples.every((each) => each === issued) ? issued : samples;
}

/** A tag is short when its IDs last for less, in seconds; the alerts have the same limit. */
const SHORT_S = 600;

/**
 * How long the buffered IDs of the tags last, over all tags: metrics have labels for the first thousand only. Read when
 * the tags are sampled, so that a scrape does not visit every tag.
 */
@Injectable()
export class Exhaustion {
  /** The least of all tags; undefined while every tag is idle. */
  leastSeconds: number | undefined;
  shortTags = 0;

  constructor(
    private readonly rates: IssueRates,
    private readonly leaf: Leaf,
  ) {}

  /** @param survey calls its argument with each tag and its buffered IDs */
  async sample(survey: (see: (tag: string, buffered: number) => void) => Promise<void>): Promise<void> {
    let least = Infinity;
    let short = 0;
    await survey((tag, buffered) => {
      const rate = this.rates.rateOf(tag);
      // A strict tag never buffers IDs.
      if (rate === 0 || this.leaf.segments?.generator.isStrict(tag) === true) return;
      const seconds = buffered / rate;
      if (seconds < least) least = seconds;
      if (seconds < SHORT_S) short++;
    });
    this.leastSeconds = least === Infinity ? undefined : least;
    this.shortTags = short;
  }
}
