/**
 * One way to make IDs. Each has a loop of its own around its call: one loop shared by all would keep V8 from compiling
 * any of them as an application's own code is compiled, and would charge every contender for it.
 */
export interface Contender {
  readonly name: string;
  readonly group: 'baseline' | 'leaf-snowflake' | 'leaf-segment' | 'peer';
  /** What the call gives. */
  readonly product: string;
  /** IDs between two turns of the event loop. */
  readonly chunk: number;
  /**
   * Puts IDs into `ids[from]` up to, not including, `ids[to]`; storing each one keeps the compiler from leaving it out.
   *
   * @returns how far it came: less than `to` when the next ID needs a turn of the event loop
   */
  fill(ids: unknown[], from: number, to: number): number | Promise<number>;
  /** The ID as a value that is equal for equal IDs; the ID itself when left out. */
  readonly key?: (id: unknown) => bigint | string;
}

/** Enough to make the turn of the event loop cheap beside them; a server does far fewer. */
export const CHUNK = 10_000;

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
