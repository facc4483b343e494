import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { PeriodicTask } from '@leaf-ids/core/internal';
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
  /** A `MonitorTag` in JSON each. */
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

/** The tags that are looked at: those of this process, or of all. */
type ShownTags = Pick<TagViews, 'names' | 'forEach' | 'revisionOf' | 'rateOf' | 'viewOf'>;

interface ShownTag {
  readonly revision: number;
  readonly rate: number;
  /** The round in which it came to be as it is. */
  readonly round: number;
  /** A `MonitorTag`. */
  readonly json: string;
  seenIn: number;
}

/** Tags in one event: few enough to be written without a stop. */
const PAGE = 250;

/**
 * The tags as of the last round, and when each of them changed: from this every reader gets what it has not seen yet,
 * whichever round that was. It is filled once a round, for all of them.
 */
export class TagChangeLog {
  private readonly shown = new Map<string, ShownTag>();
  /** Names that are gone, by the round in which they went. */
  private readonly gone = new Map<string, number>();
  /** The tags that the last round changed. */
  private latest: ShownTag[] = [];
  private rounds = 0;

  constructor(private readonly views: ShownTags) {}

  /** The last round that is complete; 0 before the first. */
  get round(): number {
    return this.rounds;
  }

  /** Looks at every tag. One call at a time. */
  async update(): Promise<void> {
    const round = this.rounds + 1;
    const changed: ShownTag[] = [];
    await this.views.forEach(await this.views.names(), (tag) => {
      const tagNow = this.look(tag, round);
      if (tagNow?.round === round) changed.push(tagNow);
    });
    await this.sweep(round);
    this.latest = changed;
    this.rounds = round;
  }

  /** The changes after `round`, in pages of JSON: a reader may take its time between them. Of round 0: every tag. */
  *changesAfter(round: number): Generator<string[]> {
    let page: string[] = [];
    const isLatest = round > 0 && round === this.rounds - 1;
    for (const tag of isLatest ? this.latest : this.shown.values()) {
      if (tag.round <= round) continue;
      page.push(tag.json);
      if (page.length < PAGE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }

  goneAfter(round: number): string[] {
    return [...this.gone].flatMap(([tag, goneIn]) => (goneIn > round ? [tag] : []));
  }

  get goneCount(): number {
    return this.gone.size;
  }

  /** Forgets removals up to `round`: all readers have them. */
  forgetGone(round: number): void {
    for (const [tag, goneIn] of this.gone) if (goneIn <= round) this.gone.delete(tag);
  }

  /** Clears the log when the last reader has gone. */
  clear(): void {
    this.shown.clear();
    this.gone.clear();
    this.latest = [];
    this.rounds = 0;
  }

  private look(tag: string, round: number): ShownTag | undefined {
    const revision = this.views.revisionOf(tag);
    const rate = this.views.rateOf(tag);
    const before = this.shown.get(tag);
    if (before !== undefined && before.revision === revision && before.rate === rate) {
      before.seenIn = round;
      return before;
    }
    const view = this.views.viewOf(tag);
    if (revision === undefined || view === undefined) return undefined;
    const now = { revision, rate, round, json: JSON.stringify(view), seenIn: round };
    this.shown.set(tag, now);
    this.gone.delete(tag);
    return now;
  }

  private sweep(round: number): Promise<void> {
    return this.views.forEach(this.shown.keys(), (tag) => {
      if (this.shown.get(tag)?.seenIn === round) return;
      this.shown.delete(tag);
      this.gone.set(tag, round);
    });
  }
}
