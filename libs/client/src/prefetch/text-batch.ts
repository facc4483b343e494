import type { Stock } from './prefetch-buffer';

/** IDs in decimal, as they came in one answer. */
export class TextBatch implements Stock {
  left: number;

  constructor(
    private readonly ids: readonly string[],
    /** Monotonic milliseconds before which none of them was made. */
    readonly askedAt: number,
  ) {
    this.left = ids.length;
  }

  /** The next ID. Only while `left` is above 0. */
  take(): string {
    const id = this.ids[this.ids.length - this.left] as string;
    this.left--;
    return id;
  }
}
