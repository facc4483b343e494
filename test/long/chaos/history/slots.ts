export interface Share {
  readonly answered: number;
  readonly failed: number;
}

/** Calls by the tenth of a second in which they were made. */
export class Slots {
  static readonly MS = 100;
  private readonly answered: number[] = [];
  private readonly failed: number[] = [];

  add(at: number, ok: boolean): void {
    const list = ok ? this.answered : this.failed;
    const slot = Math.floor(at / Slots.MS);
    while (list.length <= slot) list.push(0);
    list[slot]!++;
  }

  /** Those made from `from` up to `to`, in milliseconds. */
  between(from: number, to: number): Share {
    const [first, last] = [Math.floor(from / Slots.MS), Math.ceil(to / Slots.MS)];
    const sum = (list: readonly number[]): number => list.slice(first, last).reduce((all, count) => all + count, 0);
    return { answered: sum(this.answered), failed: sum(this.failed) };
  }
}

/** From 0 to 1; 1 when nobody asked. */
export function availability({ answered, failed }: Share): number {
  return answered + failed === 0 ? 1 : answered / (answered + failed);
}
