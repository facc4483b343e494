import type { IdService } from '@leaf-ids/core';
import { assignIds } from './assign-ids';
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
  constructor(ids: IdService, { property, transformer, tag }: GeneratedKey, onClosed: () => void) {
    this.filled = Promise.resolve().then(() => {
      onClosed();
      return assignIds(ids, tag, this.rows.length, (index, id) => {
        const row = this.rows[index];
        if (row !== undefined) row[property] = transformer.ofId(id);
      });
    });
  }

  add(row: Row): void {
    this.rows.push(row);
  }
}
