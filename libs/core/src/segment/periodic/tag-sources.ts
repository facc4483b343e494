import type { BufferContext } from '../allocation/buffer-context';
import { DoubleBuffer } from '../buffer/double-buffer';
import { GaplessTag } from '../buffer/gapless-tag';
import type { TagEntry } from '../tags/segment-store';
import { StrictLine, StrictTag } from '../buffer/strict-tag';
import type { TagSource } from '../allocation/tag-source';

/** Creates the source for the kind of a tag. */
export class TagSources {
  /** Keyed by database. */
  private readonly lines = new Map<string, StrictLine>();

  constructor(private readonly context: BufferContext) {}

  /** @param highest the highest ID of the tag known to be taken; all issued IDs are above it */
  open({ tag, kind }: TagEntry, highest: bigint): TagSource {
    if (kind?.order === 'gapless') return new GaplessTag(tag);
    if (kind?.order !== 'strict') return new DoubleBuffer(tag, this.context, highest);
    return new StrictTag(tag, this.context, this.lineOf(tag), highest);
  }

  private lineOf(tag: string): StrictLine {
    const { store, clock } = this.context;
    const database = store.databaseOf(tag);
    let line = this.lines.get(database);
    if (line === undefined) {
      line = new StrictLine(store, clock);
      this.lines.set(database, line);
    }
    return line;
  }
}
