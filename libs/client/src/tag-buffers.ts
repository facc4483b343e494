import type { LeafError } from '@leaf-ids/core';
import { assertTag } from '@leaf-ids/core/internal';
import type { PrefetchContext, PrefetchOptions } from './prefetch/prefetch-context';
import type { PrefetchView } from './prefetch/prefetch-buffer';
import { RangeBuffer } from './prefetch/range-buffer';
import { StrictBuffer } from './prefetch/strict-buffer';

/** Number of tags above which empty buffers (mostly of unknown tags) are removed. */
const MAX_TAGS = 10_000;

export interface TagBufferView extends PrefetchView {
  readonly tag: string;
}

/** The buffers of the tags in use. */
export class TagBuffers {
  private readonly buffers = new Map<string, RangeBuffer | StrictBuffer>();

  constructor(
    private readonly context: PrefetchContext,
    private readonly options: PrefetchOptions,
  ) {}

  get(tag: string): RangeBuffer | StrictBuffer | undefined {
    return this.buffers.get(tag);
  }

  /** @throws LeafError `LEAF_TAG_INVALID` */
  open(tag: string): RangeBuffer | StrictBuffer {
    let buffer = this.buffers.get(tag);
    if (buffer !== undefined) return buffer;
    assertTag(tag);
    if (this.buffers.size >= MAX_TAGS) this.forgetIdle();
    buffer = new RangeBuffer(tag, this.context, this.options, () => this.openStrict(tag));
    this.buffers.set(tag, buffer);
    return buffer;
  }

  /** @returns the number of dropped IDs of each tag */
  close(reason: LeafError): Map<string, number> {
    const dropped = new Map<string, number>();
    for (const [tag, buffer] of this.buffers) {
      const count = buffer.close(reason);
      if (count > 0) dropped.set(tag, count);
    }
    return dropped;
  }

  snapshot(): TagBufferView[] {
    return [...this.buffers].map(([tag, buffer]) => ({ tag, ...buffer.snapshot() }));
  }

  private openStrict(tag: string): StrictBuffer {
    const buffer = new StrictBuffer(tag, this.context);
    this.buffers.set(tag, buffer);
    return buffer;
  }

  private forgetIdle(): void {
    for (const [tag, buffer] of this.buffers) if (buffer.idle) this.buffers.delete(tag);
  }
}
