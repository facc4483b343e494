import type { Clock } from '../clock/clock';
import { forEachInPages } from '../pages';
import type { PeriodicTags } from './periodic-tags';
import { RetiringTags } from './retiring-tags';
import type { DoubleBufferSnapshot, TagSnapshot, TagVisit } from './segment-snapshot';
import type { TagSource } from './tag-source';

/** Tags that are looked at without a pause. */
const PAGE = 1000;

/** The tags that a generator serves, as they are looked at from outside. */
export abstract class KnownTags {
  protected readonly buffers = new Map<string, TagSource>();
  /** Out of `buffers` while they are paused: the other tags do not pay for it. */
  protected readonly paused = new Map<string, TagSource>();
  /** Out of `buffers`, too: a number of a period is no ID by itself. */
  protected abstract readonly periodic: PeriodicTags;
  /** Out of the maps. */
  protected readonly retiring = new RetiringTags();
  protected readonly closing = new AbortController();

  private membership = 0;

  protected constructor(protected readonly clock: Clock) {}

  snapshot(): DoubleBufferSnapshot[] {
    return [...this.allBuffers().map((buffer) => buffer.snapshot()), ...this.periodic.snapshots()];
  }

  /** Of one tag: of many, slice by slice, without a long stop. Undefined when it is not known. */
  snapshotOf(tag: string): TagSnapshot | undefined {
    const snapshot = this.sourceOf(tag)?.snapshot();
    return snapshot === undefined ? this.periodic.get(tag)?.snapshot() : { ...snapshot, paused: this.paused.has(tag) };
  }

  /** Another number when {@link snapshotOf} would be another one; undefined when the tag is not known. */
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

  /** Calls `visit` with each tag's issued and buffered IDs and its step, without the cost of a snapshot. */
  visit(visit: TagVisit): void {
    for (const buffers of [this.buffers, this.paused]) for (const buffer of buffers.values()) show(buffer, visit);
    this.periodic.visit(visit);
  }

  /** As {@link visit}, of one tag, if it is known. */
  visitOne(tag: string, visit: TagVisit): void {
    const buffer = this.sourceOf(tag);
    if (buffer !== undefined) show(buffer, visit);
    else this.periodic.get(tag)?.visit(visit);
  }

  /** As {@link visit}, of many tags: requests pass in between, so that no two tags are seen at one moment. */
  async survey(visit: TagVisit): Promise<void> {
    await this.forEach(this.allBuffers(), (buffer) => show(buffer, visit));
    await this.forEach(this.periodic.all(), (tag) => tag.visit(visit));
  }

  /** IDs handed out, those of tags that are gone included. */
  get issued(): number {
    return this.countIssued();
  }

  /**
   * As {@link issued}. Calls `onUsed` at the same moment with each tag that has issued IDs.
   *
   * Called every second with all tags: it makes no lists, and idle tags cost one comparison.
   */
  countIssued(onUsed?: (tag: string) => void): number {
    let sum = this.retiring.issued + this.periodic.issued;
    for (const buffers of [this.buffers, this.paused]) {
      for (const buffer of buffers.values()) {
        const { issued } = buffer;
        if (issued === 0) continue;
        sum += issued;
        onUsed?.(buffer.tag);
      }
    }
    if (onUsed !== undefined) this.periodic.visit((tag, issued) => issued > 0 && onUsed(tag));
    return sum;
  }

  /** Whether the IDs of a tag ascend over all servers; false of one that is not known. */
  isStrict(tag: string): boolean {
    return (this.sourceOf(tag)?.order ?? this.periodic.get(tag)?.kind.order) === 'strict';
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

  protected allBuffers(): TagSource[] {
    return [...this.buffers.values(), ...this.paused.values()];
  }
}

function show({ tag, issued, buffered, step }: TagSource, visit: TagVisit): void {
  visit(tag, issued, buffered, step);
}
