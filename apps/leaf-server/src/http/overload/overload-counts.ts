/**
 * Why a request was refused to keep the others quick: `connections`, it came on one connection too many (or the
 * connection itself was turned away); `in_flight`, too many were being answered; `lag`, its turn came too late.
 */
export type RefusalReason = 'connections' | 'in_flight' | 'lag';

/** Counts what the protection against overload turns away, and knows what it holds. */
export class OverloadCounts {
  private readonly counts = new Map<RefusalReason, number>([
    ['connections', 0],
    ['in_flight', 0],
    ['lag', 0],
  ]);
  /** Requests that wait or are being answered. */
  inFlight = 0;

  add(reason: RefusalReason): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  }

  all(): Iterable<readonly [RefusalReason, number]> {
    return this.counts;
  }
}
