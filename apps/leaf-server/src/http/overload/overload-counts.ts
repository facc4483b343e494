const REASONS = ['connections', 'in_flight', 'lag', 'pipelined', 'costly', 'orders', 'windows'] as const;

/**
 * The limit that a refused request exceeded. `connections`: it came on a connection beyond the limit, or the connection
 * itself was closed; `in_flight`: too many requests were in progress; `lag`: its turn came too late; `pipelined`: too
 * many requests waited behind another one, and their connection was closed; `costly`, `orders` (commands) and `windows`: too many
 * requests of that lane waited.
 */
export type RefusalReason = (typeof REASONS)[number];

/** Counts the refusals of the overload protection and the requests in progress. */
export class OverloadCounts {
  private readonly counts = new Map<RefusalReason, number>(REASONS.map((reason) => [reason, 0]));
  /** Requests of IDs that wait or are being answered. */
  inFlight = 0;

  add(reason: RefusalReason): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
  }

  all(): Iterable<readonly [RefusalReason, number]> {
    return this.counts;
  }
}
