import { turn } from '../../core/contender';
import { Latencies } from './latencies';

/** What was measured of one way to make IDs. */
export class Observed {
  /** From a call to its answer. */
  readonly calls = new Latencies();
  /** From the moment a call was due to its answer: what kept the event loop from calling counts, too. */
  readonly due = new Latencies();
  refused = 0;
  /** Answers not above the one before; of one caller's tag, a duplicate is among them. */
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
 * Calls `next` at a fixed rate, for `ms` milliseconds, and waits for the answers. A call that waits does not keep the
 * following ones from being made, so that a stall counts for every call it meets.
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
      // Many may be due at once: no answer that is there waits for the calls after it.
      await Promise.resolve();
    }
    await turn();
  }
}
