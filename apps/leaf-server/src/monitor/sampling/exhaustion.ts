import { Injectable } from '@nestjs/common';
import { Leaf } from '@leaf-ids/id';
import { IssueRates } from './issue-rates';

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
