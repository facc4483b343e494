import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { PeriodicTask } from '@leaf-ids/core/internal';
import { TagChangeLog } from './tag-change-log';
import { TagViews } from './tag-views';

/** Number of removed names that are kept; a process that has missed more gets all tags. */
const MAX_GONE = 10_000;

/** How far somebody has followed a feed. */
export interface FeedPosition {
  /** Identifies the start of the process; another value begins the feed anew. */
  readonly feed: number;
  readonly round: number;
}

export interface FeedChanges extends FeedPosition {
  /** All tags, in place of what has changed. */
  readonly whole: boolean;
  /** A `TagView` in JSON each. */
  readonly tags: readonly string[];
  readonly gone: readonly string[];
}

/** Changes of the tags of this process for the other processes: each gets those that it lacks. */
@Injectable()
export class TagChangeFeed {
  private readonly board: TagChangeLog;
  private readonly looking: PeriodicTask;
  private readonly feed: number;
  /** Removals before this round are no longer known. */
  private oldest = 0;

  constructor(views: TagViews, clock: Clock) {
    this.board = new TagChangeLog(views);
    this.feed = clock.now();
    this.looking = new PeriodicTask(
      'tag-feed',
      () => this.look(),
      clock,
      () => undefined,
    );
  }

  async changesSince(position: FeedPosition | undefined): Promise<FeedChanges> {
    await this.looking.run();
    const { feed, board } = this;
    const follows = position?.feed === feed && position.round > 0 && position.round >= this.oldest;
    const since = follows ? position.round : 0;
    const tags = [...board.changesAfter(since)].flat();
    return { feed, round: board.round, whole: !follows, tags, gone: follows ? board.goneAfter(since) : [] };
  }

  private async look(): Promise<void> {
    await this.board.update();
    if (this.board.goneCount <= MAX_GONE) return;
    this.oldest = this.board.round;
    this.board.forgetGone(this.oldest);
  }
}
