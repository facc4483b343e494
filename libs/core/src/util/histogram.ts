/** Cumulative count of observations up to `bound`. */
export interface HistogramBucket {
  readonly bound: number;
  readonly count: number;
}

export interface HistogramSnapshot {
  readonly buckets: readonly HistogramBucket[];
  readonly count: number;
  readonly sum: number;
}

/** Counts observations in buckets. `record` does not allocate. */
export class Histogram {
  /** One per bound, and one for values above the last bound. */
  private readonly cells: { readonly bound: number; count: number }[];
  private sum = 0;

  /** @param bounds inclusive upper bounds of the buckets, ascending */
  constructor(bounds: readonly number[]) {
    this.cells = [...bounds, Infinity].map((bound) => ({ bound, count: 0 }));
  }

  /** @param times how often the value was observed */
  record(value: number, times = 1): void {
    this.sum += value * times;
    for (const cell of this.cells) {
      if (value > cell.bound) continue;
      cell.count += times;
      break;
    }
  }

  snapshot(): HistogramSnapshot {
    let count = 0;
    const buckets = this.cells.map((cell) => ({ bound: cell.bound, count: (count += cell.count) }));
    return { buckets: buckets.slice(0, -1), count, sum: this.sum };
  }
}
