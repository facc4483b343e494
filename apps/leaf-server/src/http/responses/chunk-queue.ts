import type { Clock } from '@leaf-ids/core';

/** Time limit for writing chunks in one turn of the event loop, in milliseconds. */
const TURN_MS = 1;

/**
 * The next chunks of all streamed bodies. The number of bodies does not lengthen a turn of the event loop: a slice of
 * time is spent on chunks, and the others wait for the next turn.
 */
export class ChunkQueue {
  private readonly writes: (() => void)[] = [];
  private running = false;

  constructor(private readonly clock: Clock) {}

  /** Calls `write` in a later turn; the order is kept. */
  add(write: () => void): void {
    this.writes.push(write);
    if (this.running) return;
    this.running = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    const end = this.clock.monotonic() + TURN_MS;
    do this.writes.shift()?.();
    while (this.writes.length > 0 && this.clock.monotonic() < end);
    this.running = this.writes.length > 0;
    if (this.running) setImmediate(this.turn);
  };
}
