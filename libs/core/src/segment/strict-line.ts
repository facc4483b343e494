import type { LeafError } from '../errors/leaf-error';
import type { Allocation, AllocationRequest, SegmentStore } from './segment-store';

/** The interface of a strict tag to its {@link StrictLine}. */
export interface LinedTag {
  /** Whether its newest allocation failed. */
  readonly failing: boolean;

  /** Creates a request for the IDs of all waiting callers; undefined if none is waiting. */
  begin(): AllocationRequest | undefined;

  /**
   * Processes the result of the request of {@link begin}, sent at `sentAt` in monotonic milliseconds. Never rejects.
   */
  end(sentAt: number, answer: Promise<Allocation>): Promise<void>;
}

/** Maximum number of tags per statement, so that the statement ends in time. */
const WIDTH = 50;

/**
 * Batches the allocations of the strict tags of one database. One statement is in flight at a time; when it completes,
 * the next one serves all tags that have waiting callers. A tag whose allocation failed is sent separately until it
 * succeeds, so that a locked row does not delay other tags.
 */
export class StrictLine {
  private readonly ready = new Set<LinedTag>();
  private running = false;

  constructor(
    private readonly store: Pick<SegmentStore, 'allocateAll'>,
    private readonly now: () => number,
  ) {}

  /** Queues a tag that has waiting callers and no allocation in flight. */
  enter(tag: LinedTag): void {
    if (tag.failing) {
      void this.send([tag]);
      return;
    }
    this.ready.add(tag);
    if (!this.running) void this.run();
  }

  private async run(): Promise<void> {
    this.running = true;
    // Let calls of the same tick share one statement.
    await Promise.resolve();
    while (this.ready.size > 0) {
      const tags = [...this.ready].slice(0, WIDTH);
      for (const tag of tags) this.ready.delete(tag);
      await this.send(tags);
    }
    this.running = false;
  }

  private async send(tags: readonly LinedTag[]): Promise<void> {
    const asked = tags.flatMap((tag) => {
      const request = tag.begin();
      return request === undefined ? [] : [{ tag, request }];
    });
    if (asked.length === 0) return;
    const sentAt = this.now();
    const answers = this.store.allocateAll(asked.map(({ request }) => request));
    await Promise.all(asked.map(({ tag }, index) => tag.end(sentAt, answerAt(answers, index))));
  }
}

async function answerAt(answers: Promise<(Allocation | LeafError)[]>, index: number): Promise<Allocation> {
  const answer = (await answers)[index];
  if (answer === undefined) throw new Error('The store returned no result for a request.');
  if (answer instanceof Error) throw answer;
  return answer;
}
