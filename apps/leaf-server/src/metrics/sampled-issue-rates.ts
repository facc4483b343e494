import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '@leaf/core';
import { SegmentService } from '@leaf/segment';
import { IssueRates } from './issue-rates';

/** A rate is taken over one to two of these. */
const WINDOW_MS = 30_000;

/** Where each tag stood at one moment. */
interface Mark {
  readonly at: number;
  readonly issued: ReadonlyMap<string, number>;
}

/** Rates between the moments at which {@link sample} was called. */
@Injectable()
export class SampledIssueRates extends IssueRates {
  private before: Mark | undefined;
  private since: Mark | undefined;
  private latest: Mark | undefined;

  constructor(
    private readonly clock: Clock,
    @Optional() private readonly segments?: SegmentService,
  ) {
    super();
  }

  sample(): void {
    const issued = new Map<string, number>();
    this.segments?.visit((tag, count) => issued.set(tag, count));
    this.latest = { at: this.clock.monotonic(), issued };
    this.since ??= this.latest;
    if (this.latest.at - this.since.at < WINDOW_MS) return;
    this.before = this.since;
    this.since = this.latest;
  }

  rateOf(tag: string): number | undefined {
    const from = this.before ?? this.since;
    const [now, then] = [this.latest?.issued.get(tag), from?.issued.get(tag)];
    const ms = (this.latest?.at ?? 0) - (from?.at ?? 0);
    // A tag that was made anew counts from 0.
    if (now === undefined || then === undefined || now < then || ms <= 0) return undefined;
    return ((now - then) / ms) * 1000;
  }
}
