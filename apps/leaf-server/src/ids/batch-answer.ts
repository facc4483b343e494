import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { type IdRange, sizeOf } from '@leaf/core';
import { JSON_TYPE } from '../http/fast.route';
import { batchLength, BatchText, type Label } from './batch-text';

/** Up to so many IDs an answer is one text of some 20 KB; what is larger is made as the client takes it. */
const MAX_TEXT_SIZE = 1000;

/**
 * The answer to a batch. Its IDs are taken before the first byte, so that no answer ends half way for want of them; the
 * text of a large one is written piece by piece, at the pace of whoever reads it.
 */
export class BatchAnswer {
  private readonly text = new BatchText();

  /** What the framework sends as JSON. */
  of(label: Label, name: string, ranges: readonly IdRange[]): string | StreamableFile {
    const size = ranges.reduce((sum, range) => sum + sizeOf(range), 0);
    if (size <= MAX_TEXT_SIZE) return this.text.write(label, name, ranges);
    return new StreamableFile(Readable.from(this.text.pieces(label, name, ranges)), {
      type: JSON_TYPE,
      length: batchLength(label, name, ranges),
    });
  }
}
