import { turn } from '../core/contender';
import { Latencies } from './latencies';

/** Results of one way to generate IDs. */
export class Observed {
  /** Latency from the call to its result. */
  readonly calls = new Latencies();
  /** Latency from the time at which a call was due, including delays of the event loop. */
  readonly due = new Latencies();
  refused = 0;
  /** IDs not greater than the previous one, which includes duplicates. */
  unordered = 0;
  private last = -1n;

  answer(id: bigint, begunAt: number, dueAt: number): void {
    const now = performance.now();
    this.calls.record(now - begunAt);
    this.due.record(now - dueAt);
    if (id <= this.last) this.unordered++;
    this.last = id;
  }
}

/**
 * Calls `next` at a fixed rate for `ms` milliseconds and waits for the results. A waiting call does not delay the
 * following calls, so that a stall counts for every call during it.
 */
export async function offer(
  next: () => Promise<bigint>,
  perSecond: number,
  ms: number,
  observed: Observed,
): Promise<void> {
  const interval = 1000 / perSecond;
  const total = Math.floor(ms / interval);
  const startedAt = performance.now();
  let answered = 0;
  const call = async (dueAt: number): Promise<void> => {
    const begunAt = performance.now();
    try {
      observed.answer(await next(), begunAt, dueAt);
    } catch {
      observed.refused++;
    }
    answered++;
  };
  let made = 0;
  while (answered < total) {
    const elapsed = performance.now() - startedAt;
    for (; made < total && made * interval <= elapsed; made++) {
      void call(startedAt + made * interval);
      // Many calls can be due at the same time; results are processed between them.
      await Promise.resolve();
    }
    await turn();
  }
}
