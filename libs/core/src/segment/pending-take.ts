/** A call that waits until as many IDs as it wants are loaded behind what is buffered. */
export interface PendingTake {
  readonly count: number;
  /** The caller is gone: what is loaded stays in the buffer. */
  abandoned: boolean;
  done: boolean;
}
