import { PLAIN_TAG, SegmentStore, type Allocation, type TagEntry } from '@leaf-ids/core';
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

  giveBack = (): Promise<boolean> => Promise.resolve(false);
  raise = (): Promise<void> => Promise.resolve();
  beginPeriod = (): Promise<void> => Promise.resolve();
  recordDeleted = (): Promise<void> => Promise.resolve();
}
