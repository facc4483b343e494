import type { Clock } from '../../clock/clock';
import { forEachInPages } from '../../util/for-each';
import type { PeriodicTag } from '../periodic/periodic-tag';
import type { PeriodicTags } from '../periodic/periodic-tags';
import {
  type FailingTags,
  type TagSource,
  UsedSources,
  type DoubleBufferSnapshot,
  type TagSnapshot,
  type TagVisit,
} from '../allocation/tag-source';
import { ServedTags } from './served-tags';

/** Tags visited before yielding to the event loop. */
const PAGE = 1000;

/** The tags of a generator, and read access to their state. */
export abstract class KnownTags {
  protected readonly buffers = new ServedTags();
  /** Paused tags, kept out of `buffers` so that the fast path needs no check. */
  protected readonly paused = new Map<string, TagSource>();
  /** Periodic tags, kept out of `buffers` because a number without its period is not an ID. */
  protected abstract readonly periodic: PeriodicTags;
  /** The sources in use, those of removed tags included. */
  protected readonly used = new UsedSources();
  protected readonly closing = new AbortController();

  private membership = 0;

  protected constructor(protected readonly clock: Clock) {}

  snapshot(): DoubleBufferSnapshot[] {
    return [...this.allBuffers().map((buffer) => buffer.snapshot()), ...this.periodic.snapshots()];
  }

  /** The snapshot of one tag; undefined for an unknown tag. */
  snapshotOf(tag: string): TagSnapshot | undefined {
    const snapshot = this.sourceOf(tag)?.snapshot();
    return snapshot === undefined ? this.periodic.get(tag)?.snapshot() : { ...snapshot, paused: this.paused.has(tag) };
  }

  /** Version: changes whenever {@link snapshotOf} would. Undefined for an unknown tag. */
  revisionOf(tag: string): number | undefined {
    const revision = this.buffers.get(tag)?.revision;
    if (revision !== undefined) return revision;
    const paused = this.paused.get(tag);
    return paused === undefined ? this.periodic.get(tag)?.revision : -1 - paused.revision;
  }

  /** Changes whenever a tag comes or goes. */
  get namesRevision(): number {
    return this.membership;
  }

  protected noteMembership(): void {
    this.membership++;
  }

  get tagCount(): number {
    return this.buffers.size + this.paused.size + this.periodic.size;
  }

  /** Calls `visit` with the issued and buffered IDs and the step of each tag. Cheaper than {@link snapshot}. */
  visit(visit: TagVisit): void {
    for (const buffers of [this.buffers, this.paused]) for (const buffer of buffers.values()) show(buffer, visit);
    this.periodic.visit(visit);
  }

  /** As {@link visit}, for one tag, if it is known. */
  visitOne(tag: string, visit: TagVisit): void {
    const buffer = this.sourceOf(tag);
    if (buffer !== undefined) show(buffer, visit);
    else this.periodic.get(tag)?.visit(visit);
  }

  /**
   * As {@link visit}, but yields to the event loop in between: the values of different tags are from different times.
   */
  async survey(visit: TagVisit): Promise<void> {
    await this.forEach(this.allBuffers(), (buffer) => show(buffer, visit));
    await this.forEach(this.periodic.all(), (tag) => tag.visit(visit));
  }

  /** Number of IDs issued, including those of removed tags. */
  get issued(): number {
    return this.countIssued();
  }

  /**
   * As {@link issued}. Calls `onUsed` at the same moment with each tag that has issued IDs.
   *
   * Runs every second without a yield, so it visits only the tags in use.
   */
  countIssued(onUsed?: (tag: string) => void): number {
    if (onUsed === undefined) return this.used.countIssued();
    this.periodic.visit((tag, issued) => issued > 0 && onUsed(tag));
    return this.used.countIssued((source) => this.sourceOf(source.tag) === source && onUsed(source.tag));
  }

  /** Whether the IDs of a tag ascend over all servers; false for an unknown tag. */
  isStrict(tag: string): boolean {
    return (this.sourceOf(tag)?.order ?? this.periodic.get(tag)?.kind.order) === 'strict';
  }

  /** The used tags that refuse their calls; undefined if none does. Takes the same time with any number of tags. */
  get failing(): FailingTags | undefined {
    return this.used.failing(this.clock.monotonic());
  }

  isPaused(tag: string): boolean {
    return this.paused.has(tag);
  }

  pausedTags(): string[] {
    return [...this.paused.keys(), ...this.periodic.pausedTags()];
  }

  protected forEach<Item>(items: Iterable<Item>, act: (item: Item) => void): Promise<void> {
    return forEachInPages(items, PAGE, act, this.clock, this.closing.signal);
  }

  protected sourceOf(tag: string): TagSource | undefined {
    return this.buffers.get(tag) ?? this.paused.get(tag);
  }

  protected knownAs(tag: string): TagSource | PeriodicTag | undefined {
    return this.sourceOf(tag) ?? this.periodic.get(tag);
  }

  protected isKnown(tag: string): boolean {
    return this.knownAs(tag) !== undefined;
  }

  protected allBuffers(): TagSource[] {
    return [...this.buffers.values(), ...this.paused.values()];
  }
}

function show({ tag, issued, buffered, step }: TagSource, visit: TagVisit): void {
  visit(tag, issued, buffered, step);
}
