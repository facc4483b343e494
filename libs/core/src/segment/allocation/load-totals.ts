import { Histogram } from '../../util/histogram';

/** Upper bounds in milliseconds. */
const TIME_BOUNDS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/** Counters of the allocations of all tags of a generator, including removed ones. They never decrease. */
export class LoadTotals {
  loads = 0;
  failures = 0;
  retries = 0;
  backwards = 0;
  /** Latency of allocations, in milliseconds. */
  readonly times = new Histogram(TIME_BOUNDS);
}
