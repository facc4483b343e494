/**
 * One way to generate IDs. Each contender has its own loop, because a shared loop would become megamorphic and slow
 * down every contender.
 */
export interface Contender {
  readonly name: string;
  readonly group: 'baseline' | 'leaf-snowflake' | 'leaf-segment' | 'peer';
  /** Type of the IDs. */
  readonly product: string;
  /** IDs per iteration of the event loop. */
  readonly chunk: number;
  /**
   * Writes IDs to `ids` from index `from` to `to`, exclusive. Storing each ID prevents dead code elimination.
   *
   * @returns the index after the last ID; less than `to` if the next ID needs an iteration of the event loop
   */
  fill(ids: unknown[], from: number, to: number): number | Promise<number>;
  /** A primitive key for comparing IDs; the ID itself by default. */
  readonly key?: (id: unknown) => bigint | string;
}

/** Large enough to make the iteration of the event loop negligible; a server generates far fewer IDs per iteration. */
export const CHUNK = 10_000;

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
