import type { Clock } from '@leaf/core';

/** Twelve intervals of five seconds: a minute. */
const SAMPLES = 13;

interface Samples {
  /** IDs issued, by the slot of the sample; 0 where the tag was not there yet. */
  readonly issued: number[];
  /** The newest sample that the tag was in. */
  seenIn: number;
}

/** How many IDs per second each tag has issued in the last minute. A tag that is idle for so long has exactly 0. */
export class IssueRates {
  private readonly tags = new Map<string, Samples>();
  /** When each slot was filled, in monotonic milliseconds. */
  private readonly times: number[] = [];
  private count = 0;

  constructor(private readonly clock: Clock) {}

  /**
   * To be called every five seconds.
   *
   * @param visit calls its argument with each tag and the IDs that it has issued since it is known
   */
  sample(visit: (see: (tag: string, issued: number) => void) => void): void {
    const slot = this.count % SAMPLES;
    const before = (slot + SAMPLES - 1) % SAMPLES;
    let seen = 0;
    this.times[slot] = this.clock.monotonic();
    this.count++;
    visit((tag, issued) => {
      const samples = this.samplesOf(tag);
      // A tag that was deleted and made again begins to count anew.
      if (issued < (samples.issued[before] ?? 0)) samples.issued.length = 0;
      samples.issued[slot] = issued;
      samples.seenIn = this.count;
      seen++;
    });
    if (seen < this.tags.size) this.forget();
  }

  /** IDs per second. */
  rateOf(tag: string): number {
    const samples = this.tags.get(tag);
    if (samples === undefined || this.count < 2) return 0;
    const newest = (this.count - 1) % SAMPLES;
    const oldest = this.count < SAMPLES ? 0 : this.count % SAMPLES;
    const ms = (this.times[newest] ?? 0) - (this.times[oldest] ?? 0);
    const ids = (samples.issued[newest] ?? 0) - (samples.issued[oldest] ?? 0);
    return ms > 0 ? (ids * 1000) / ms : 0;
  }

  private samplesOf(tag: string): Samples {
    let samples = this.tags.get(tag);
    if (samples === undefined) {
      samples = { issued: [], seenIn: 0 };
      this.tags.set(tag, samples);
    }
    return samples;
  }

  private forget(): void {
    for (const [tag, { seenIn }] of this.tags) if (seenIn < this.count) this.tags.delete(tag);
  }
}
