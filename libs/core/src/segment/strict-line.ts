import type { LeafError } from '../errors/leaf-error';
import type { Allocation, AllocationRequest, SegmentStore } from './segment-store';

/** A strict tag, as its line sees it. */
export interface LinedTag {
  /** Whether its newest allocation failed. */
  readonly failing: boolean;

  /** Asks for as many IDs as callers wait for at this moment; undefined when nobody waits any more. */
  begin(): AllocationRequest | undefined;

  /** Takes the answer to what {@link begin} asked for, sent at `sentAt` in monotonic milliseconds. Never rejects. */
  end(sentAt: number, answer: Promise<Allocation>): Promise<void>;
}

/** Tags of one statement: few enough that it ends in time. */
const WIDTH = 50;

/**
 * The strict tags of one database that have callers waiting. One statement is under way at a time; when it is answered,
 * the next one takes what all of them want by then. A tag whose allocation failed goes alone until one succeeds: a
 * locked row holds up no other tag.
 */
export class StrictLine {
  private readonly ready = new Set<LinedTag>();
  private running = false;

  constructor(
    private readonly store: Pick<SegmentStore, 'allocateAll'>,
    private readonly now: () => number,
  ) {}

  /** Lines up a tag that has callers waiting and no allocation under way. */
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
    // Those who call at the same time are served by one statement.
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
  if (answer === undefined) throw new Error('the store left a request without an answer');
  if (answer instanceof Error) throw answer;
  return answer;
}
