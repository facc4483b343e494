import { Histogram } from '../histogram';

/** Upper bounds in milliseconds. */
const TIME_BOUNDS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/** What the store was asked for by all tags of a generator, those that are gone included: it only ever grows. */
export class LoadTotals {
  loads = 0;
  failures = 0;
  retries = 0;
  backwards = 0;
  /** Milliseconds that the store took for an allocation. */
  readonly times = new Histogram(TIME_BOUNDS);
}
