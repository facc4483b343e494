import type { Clock } from '../clock/clock';

/** A tag that the store does not have is answered from memory this long, in milliseconds. */
const NOT_FOUND_MS = 1000;
/** So many unknown tags are kept in mind; more are forgotten, oldest first. */
const NOT_FOUND_KEPT = 10_000;

/** Tags that the store did not have a moment ago: repeated calls for them do not reach the store. */
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
