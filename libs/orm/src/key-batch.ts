import { type IdService, MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '@leaf-ids/core';
import type { GeneratedKey } from './generated-key';

export type Row = Record<string, unknown>;

/**
 * Collects the rows that need a key in one turn of the event loop, and fills them together: a bulk insert registers all
 * its rows before it awaits the first one.
 */
export class KeyBatch {
  /** Settles when every row has its ID. */
  readonly filled: Promise<void>;

  private readonly rows: Row[] = [];

  /** @param onClosed called at the end of the turn: the next row needs a new batch */
  constructor(
    private readonly ids: IdService,
    private readonly key: GeneratedKey,
    onClosed: () => void,
  ) {
    this.filled = Promise.resolve().then(() => {
      onClosed();
      return key.tag === undefined ? this.fillSnowflakes() : this.fillSegment(key.tag);
    });
  }

  add(row: Row): void {
    this.rows.push(row);
  }

  private async fillSnowflakes(): Promise<void> {
    for (let first = 0; first < this.rows.length; first += MAX_BATCH_SIZE) {
      const ids = await this.ids.snowflakes(Math.min(MAX_BATCH_SIZE, this.rows.length - first));
      for (const [index, id] of ids.entries()) this.assign(first + index, id);
    }
  }

  private async fillSegment(tag: string): Promise<void> {
    for (let index = 0; index < this.rows.length;) {
      for (const { from, to } of await this.ids.nextRanges(tag, Math.min(MAX_RANGE_SIZE, this.rows.length - index))) {
        for (let id = from; id <= to; id++) this.assign(index++, id);
      }
    }
  }

  /** The IDs ascend in the order of the rows. */
  private assign(index: number, id: bigint): void {
    const row = this.rows[index];
    if (row !== undefined) row[this.key.property] = this.key.type === 'bigint' ? id : String(id);
  }
}
