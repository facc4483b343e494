import { Injectable } from '@nestjs/common';
import { Clock } from '@leaf-ids/core';
import { jsonPages } from '../../http/responses/stream-body';
import { ProcessBus, BusRequest } from '../../processes/process-bus';
import { SLICE, TagViews } from '../process/tag-views';
import { TimeSlice } from '../sampling/time-slice';
import type { MonitorTag } from '../views/views';
import type { PageRequest } from '../../openapi/paging';
import { MergedTags, mergePages, type TagsPage } from './merged-tags';
import { type FeedChanges, type FeedPosition, TagChangeFeed } from '../process/tag-change-log';

const TAGS = new BusRequest<Record<number, FeedPosition>, FeedChanges>('tags');
const PAGE = new BusRequest<PageRequest, TagsPage>('tags page');
/** Tags of one such request: well below a millisecond. */
const PAGE_TAGS = 100;

/** The tags as all processes of the server know them, as of the last {@link AggregatedTags.refresh}. */
@Injectable()
export class AggregatedTags {
  private readonly merged: MergedTags | undefined;
  private refreshing: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly own: TagViews,
    private readonly bus: ProcessBus,
    feed: TagChangeFeed,
  ) {
    if (bus.count > 1) this.merged = new MergedTags();
    bus.serve(PAGE, (page) => this.ownPage(page));
    bus.serve(TAGS, (positions) => feed.changesSince(positions[bus.process]));
  }

  /** Asks all processes; joins a call under way. */
  async refresh(): Promise<void> {
    const { merged } = this;
    if (merged === undefined) return;
    this.refreshing ??= this.gather(merged).finally(() => (this.refreshing = undefined));
    await this.refreshing;
  }

  /** The names of all tags, unsorted. */
  async names(): Promise<string[]> {
    return (this.merged ?? this.own).names();
  }

  /** Another one whenever the view of the tag has become another one, its rate apart. */
  revisionOf(tag: string): number | undefined {
    return (this.merged ?? this.own).revisionOf(tag);
  }

  /** IDs per second, where it changes without a revision. */
  rateOf(tag: string): number {
    return this.merged === undefined ? this.own.rateOf(tag) : 0;
  }

  viewOf(tag: string): MonitorTag | undefined {
    return (this.merged ?? this.own).viewOf(tag);
  }

  /** See {@link TagViews.forEach}. */
  forEach(tags: Iterable<string>, act: (tag: string) => void): Promise<void> {
    return this.own.forEach(tags, act);
  }

  /** See {@link TagViews.json}. */
  json(tags: readonly string[]): string {
    return this.own.json(tags);
  }

  /** The first `limit` tags after `after`, as all processes know them now. */
  async page({ after, limit }: PageRequest): Promise<TagsPage> {
    const tags: MonitorTag[] = [];
    const slice = new TimeSlice(this.clock);
    for (let last = after; ;) {
      const { answers } = await this.bus.ask(PAGE, { after: last, limit: Math.min(PAGE_TAGS, limit - tags.length) });
      const page = mergePages(answers.map(({ value }) => value));
      const room = limit - tags.length;
      tags.push(...page.tags.slice(0, room));
      last = page.tags.length > room ? tags.at(-1)?.tag : page.end;
      if (last === undefined || tags.length >= limit) return { tags, end: last };
      await slice.yieldIfOver();
    }
  }

  /** A `SegmentsView` in JSON, piece by piece. */
  document(tags: readonly MonitorTag[]): Generator<string, void, undefined> {
    const [head, tail] = this.own.frame();
    return jsonPages(head, tags, (view) => view, tail);
  }

  private async ownPage({ after, limit }: PageRequest): Promise<TagsPage> {
    const names = await this.own.namesAfter(after, limit + 1);
    const tags = names.slice(0, limit).flatMap((tag) => this.own.viewOf(tag) ?? []);
    return { tags, end: names.length > limit ? names[limit - 1] : undefined };
  }

  private async gather(merged: MergedTags): Promise<void> {
    const { answers, missing } = await this.bus.ask(TAGS, merged.positions());
    for (const { process, value } of answers) {
      merged.take(process, value);
      if (value.tags.length > SLICE) await this.clock.sleep(0);
    }
    for (const { process, gone } of missing) if (gone) merged.forget(process);
  }
}
