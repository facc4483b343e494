import { PLAIN_TAG, SegmentStore, type Allocation, type IdRange, type TagEntry } from '@leaf-ids/core';
import { turn } from './contender';

/**
 * A store with tags in memory. One counter gives the IDs of all tags, so that they are distinct. It always responds
 * asynchronously, as a real store does.
 */
export class MemorySegmentStore extends SegmentStore {
  readonly description = 'memory';
  private maxId = 1n;

  constructor(
    private readonly tags: readonly string[],
    private readonly step: number,
  ) {
    super();
  }

  listTags(): Promise<TagEntry[]> {
    return Promise.resolve(this.tags.map((tag) => ({ tag, kind: PLAIN_TAG })));
  }

  findTag(tag: string): Promise<TagEntry | undefined> {
    return Promise.resolve(this.tags.includes(tag) ? { tag, kind: PLAIN_TAG } : undefined);
  }

  async allocate(_tag: string, size = this.step): Promise<Allocation> {
    await turn();
    const from = this.maxId;
    this.maxId += BigInt(size);
    return { from, to: this.maxId - 1n, step: this.step };
  }

  giveBack(_tag: string, { from, to }: IdRange): Promise<boolean> {
    if (this.maxId !== to + 1n) return Promise.resolve(false);
    this.maxId = from;
    return Promise.resolve(true);
  }

  raise(_tag: string, minimum: bigint): Promise<void> {
    if (this.maxId < minimum) this.maxId = minimum;
    return Promise.resolve();
  }

  beginPeriod(): Promise<void> {
    return Promise.reject(new Error('Tag has no periods'));
  }

  recordDeleted(): Promise<void> {
    return Promise.resolve();
  }
}
