import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';

/** Twelve intervals of five seconds: a minute. */
const SAMPLES = 13;
/** Rates are told while one more sample is taken. */
const SLOTS = SAMPLES + 1;

/** What a tag had issued at each sample, by slot; of one that rests for so long, what it had at all of them. */
type Samples = number[] | number;

/** How many IDs per second each tag has issued in the last minute. A tag that is idle for so long has exactly 0. */
@Injectable()
export class IssueRates {
  /** The tags that have issued anything. */
  private tags = new Map<string, Samples>();
  /** When each slot was filled, in monotonic milliseconds. */
  private readonly times: number[] = [];
  private count = 0;

  constructor(private readonly clock: Clock) {}

  /**
   * To be called every five seconds, one call at a time.
   *
   * @param survey calls its argument with each tag and the IDs that it has issued since it is known
   */
  async sample(survey: (see: (tag: string, issued: number) => void) => Promise<void>): Promise<void> {
    const slot = this.count % SLOTS;
    const tags = new Map<string, Samples>();
    this.times[slot] = this.clock.monotonic();
    await survey((tag, issued) => {
      if (issued > 0) tags.set(tag, added(this.tags.get(tag), issued, slot));
    });
    this.tags = tags;
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
}

function added(before: Samples | undefined, issued: number, slot: number): Samples {
  if (before === issued) return before;
  const last = typeof before === 'object' ? before[(slot + SLOTS - 1) % SLOTS] : before;
  // A tag that was deleted and made again begins to count anew.
  const known = last !== undefined && issued >= last;
  const samples = known && typeof before === 'object' ? before : new Array<number>(SLOTS).fill(known ? last : 0);
  samples[slot] = issued;
  return samples.every((each) => each === issued) ? issued : samples;
}
