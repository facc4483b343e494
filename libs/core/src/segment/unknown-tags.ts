import type { Clock } from '../clock/clock';

/** How long a missing tag is cached, in milliseconds. */
const NOT_FOUND_MS = 1000;
/** Maximum number of cached tags; the oldest is dropped first. */
const NOT_FOUND_KEPT = 10_000;

/** Negative cache: tags that the store did not have. Repeated calls for them do not reach the store. */
export class UnknownTags {
  private readonly until = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  has(tag: string): boolean {
    return (this.until.get(tag) ?? -Infinity) > this.clock.monotonic();
  }

  add(tag: string): void {
    this.until.delete(tag);
    this.until.set(tag, this.clock.monotonic() + NOT_FOUND_MS);
    const [oldest = tag] = this.until.keys();
    if (this.until.size > NOT_FOUND_KEPT) this.until.delete(oldest);
  }
}
