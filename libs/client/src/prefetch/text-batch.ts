import type { Stock } from './prefetch-buffer';

/** The decimal IDs of one response. */
export class TextBatch implements Stock {
  left: number;

  constructor(
    private readonly ids: readonly string[],
    /** Time of the request, in monotonic milliseconds: all IDs are newer. */
    readonly requestedAt: number,
  ) {
    this.left = ids.length;
  }

  /** The next ID; call only while `left` is above 0. */
  take(): string {
    const id = this.ids[this.ids.length - this.left] as string;
    this.left--;
    return id;
  }
}
