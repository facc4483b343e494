import { type IdService, MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '@leaf/core';

/** Takes one ID. */
export type Receiver = (id: bigint) => void;

/**
 * The keys that are asked for in one turn of the event loop, taken together: a bulk insert asks for all of its keys
 * before it waits for the first.
 */
export class KeyBatch {
  /** Settles when every receiver has its ID. */
  readonly filled: Promise<void>;

  private readonly receivers: Receiver[] = [];

  /** @param onClosed told that the turn is over: the next key goes into a new batch */
  constructor(
    private readonly ids: IdService,
    private readonly tag: string | undefined,
    onClosed: () => void,
  ) {
    this.filled = Promise.resolve().then(() => {
      onClosed();
      return this.fill();
    });
  }

  add(receiver: Receiver): void {
    this.receivers.push(receiver);
  }

  /** In the order of the receivers the IDs ascend. */
  private async fill(): Promise<void> {
    const size = this.tag === undefined ? MAX_BATCH_SIZE : MAX_RANGE_SIZE;
    for (let first = 0; first < this.receivers.length; first += size) {
      const part = this.receivers.slice(first, first + size);
      if (this.tag === undefined) await this.fillSnowflakes(part);
      else await this.fillSegment(this.tag, part);
    }
  }

  private async fillSnowflakes(receivers: readonly Receiver[]): Promise<void> {
    const ids = await this.ids.snowflakes(receivers.length);
    for (const [index, id] of ids.entries()) receivers[index]?.(id);
  }

  private async fillSegment(tag: string, receivers: readonly Receiver[]): Promise<void> {
    let index = 0;
    for (const { from, to } of await this.ids.nextRanges(tag, receivers.length)) {
      for (let id = from; id <= to; id++) receivers[index++]?.(id);
    }
  }
}
